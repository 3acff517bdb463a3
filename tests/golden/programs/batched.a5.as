refused: pto-as: it would take more than 300 lines without loops; pto-ir would work
