.arg %table : !pto.memref<1x65536xf32>
.arg %indices : !pto.memref<1x256xi32>
.arg %updates : !pto.memref<1x256xf32>
.const %c0 = 0 : index
%index = tload %indices[%c0, %c0] : (!pto.memref<1x256xi32>, index, index) -> !pto.tile<1x256xi32>
%update = tload %updates[%c0, %c0] : (!pto.memref<1x256xf32>, index, index) -> !pto.tile<1x256xf32>
mscatter.elem.wrap %table, %update, %index : (!pto.memref<1x65536xf32>, !pto.tile<1x256xf32>, !pto.tile<1x256xi32>)
