.arg %result : !pto.memref<1x32xi32>
.arg %table : !pto.memref<1x16xi32>
.arg %indices : !pto.memref<1x32xi32>
.const %c0 = 0 : index
%index = tload %indices[%c0, %c0] : (!pto.memref<1x32xi32>, index, index) -> !pto.tile<1x32xi32>
%row = mgather.elem.clamp %table, %index : (!pto.memref<1x16xi32>, !pto.tile<1x32xi32>) -> !pto.tile<1x32xi32>
tstore %row, %result[%c0, %c0] : (!pto.tile<1x32xi32>, !pto.memref<1x32xi32>, index, index)
