.arg %table : !pto.memref<64x32xf32>
.arg %indices : !pto.memref<8x1xi32>
.arg %updates : !pto.memref<8x32xf32>
.const %c0 = 0 : index
%index = tload %indices[%c0, %c0] : (!pto.memref<8x1xi32>, index, index) -> !pto.tile<8x1xi32>
%update = tload %updates[%c0, %c0] : (!pto.memref<8x32xf32>, index, index) -> !pto.tile<8x32xf32>
mscatter.row %table, %update, %index : (!pto.memref<64x32xf32>, !pto.tile<8x32xf32>, !pto.tile<8x1xi32>)
