.arg %table : !pto.memref<65536x64xf16>
.arg %indices : !pto.memref<1x8xi32>
.arg %updates : !pto.memref<8x64xf16>
.const %c0 = 0 : index
%index = tload %indices[%c0, %c0] : (!pto.memref<1x8xi32>, index, index) -> !pto.tile<1x8xi32>
%update = tload %updates[%c0, %c0] : (!pto.memref<8x64xf16>, index, index) -> !pto.tile<8x64xf16>
mscatter.row.clamp %table, %update, %index : (!pto.memref<65536x64xf16>, !pto.tile<8x64xf16>, !pto.tile<1x8xi32>)
