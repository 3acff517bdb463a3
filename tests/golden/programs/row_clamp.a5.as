.arg %table : !pto.memref<8x16xi32>
.arg %indices : !pto.memref<1x8xi32>
.arg %updates : !pto.memref<8x16xi32>
%index = tload %indices[0, 0] : (!pto.memref<1x8xi32>, index, index) -> !pto.tile<1x8xi32>
.const %c0_i32 = 0 : i32
%index_2 = tmaxs %index, %c0_i32 : (!pto.tile<1x8xi32>, i32) -> !pto.tile<1x8xi32>
%update = tload %updates[0, 0] : (!pto.memref<8x16xi32>, index, index) -> !pto.tile<8x16xi32>
mscatter.row.clamp %table, %update, %index_2 : (!pto.memref<8x16xi32>, !pto.tile<8x16xi32>, !pto.tile<1x8xi32>)
