.arg %table : !pto.memref<65536x64xf32>
.arg %indices : !pto.memref<1x16xi32>
.arg %updates : !pto.memref<16x64xf32>
.const %c0 = 0 : index
%index = tload %indices[%c0, %c0] : (!pto.memref<1x16xi32>, index, index) -> !pto.tile<1x16xi32>
%update = tload %updates[%c0, %c0] : (!pto.memref<16x64xf32>, index, index) -> !pto.tile<16x64xf32>
mscatter.row.skip %table, %update, %index : (!pto.memref<65536x64xf32>, !pto.tile<16x64xf32>, !pto.tile<1x16xi32>)
