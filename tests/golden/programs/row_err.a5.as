.arg %result : !pto.memref<1x1000xf32>
.arg %operand : !pto.memref<1x1000xf32>
.arg %indices : !pto.memref<1x200xi32>
.arg %updates : !pto.memref<1x2000xf32>
.arg %fault : !pto.memref<1x8xi32>
.const %c0_i32 = 0 : i32
%faults = texpands %c0_i32 : (i32) -> !pto.tile<1x8xi32>
tstore %faults, %fault[0, 0] : (!pto.tile<1x8xi32>, !pto.memref<1x8xi32>, index, index)
.const %c1_i32 = 1 : i32
%one = texpands %c1_i32 : (i32) -> !pto.tile<1x104xi32, 1x100>
%lane = tci %c0_i32 : (i32) -> !pto.tile<1x104xi32, 1x100>
.const %c2_i32 = 2 : i32
%place = tmuls %lane, %c2_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low = mgather.elem %indices, %place : (!pto.memref<1x200xi32>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%place_2 = tadds %place, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high = mgather.elem %indices, %place_2 : (!pto.memref<1x200xi32>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
.const %cm1_i32 = -1 : i32
%low_sign = tmaxs %low, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_2 = tmins %low_sign, %c0_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %cm2_i32 = -2 : i32
%high_2 = tmaxs %high, %cm2_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_3 = tmins %high_2, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_4 = tsub %high_3, %low_sign_2 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%high_5 = tmaxs %high_4, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_6 = tmins %high_5, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_3 = tmul %high_6, %high_6 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%low_sign_4 = tmuls %low_sign_3, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_5 = tadds %low_sign_4, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_2 = tmul %low, %low_sign_5 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
.const %c2147483647_i32 = 2147483647 : i32
%high_7 = tmuls %high_6, %c2147483647_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_3 = tadd %low_2, %high_7 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%low_4 = tmaxs %low_3, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %c50_i32 = 50 : i32
%low_5 = tmins %low_4, %c50_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%off = tmaxs %low_5, %c0_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %c49_i32 = 49 : i32
%off_2 = tmins %off, %c49_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%distance = tsub %low_5, %off_2 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%distance_2 = tmul %distance, %distance : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%distance_3 = tadds %distance_2, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
mscatter.elem.skip %fault, %one, %distance_3 : (!pto.memref<1x8xi32>, !pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>)
%made = tload %operand[0, 0] : (!pto.memref<1x1000xf32>, index, index) -> !pto.tile<1x1000xf32>
%zero = texpands %c0_i32 : (i32) -> !pto.tile<1x1000xi32>
%away = mgather.elem %fault, %zero : (!pto.memref<1x8xi32>, !pto.tile<1x1000xi32>) -> !pto.tile<1x1000xi32>
%keep = tmuls %away, %cm1_i32 : (!pto.tile<1x1000xi32>, i32) -> !pto.tile<1x1000xi32>
%keep_2 = tadds %keep, %c1_i32 : (!pto.tile<1x1000xi32>, i32) -> !pto.tile<1x1000xi32>
%into = tci %c0_i32 : (i32) -> !pto.tile<1x1000xi32>
%into_2 = tmul %into, %keep_2 : (!pto.tile<1x1000xi32>, !pto.tile<1x1000xi32>) -> !pto.tile<1x1000xi32>
%into_3 = tsub %into_2, %away : (!pto.tile<1x1000xi32>, !pto.tile<1x1000xi32>) -> !pto.tile<1x1000xi32>
mscatter.elem.skip %result, %made, %into_3 : (!pto.memref<1x1000xf32>, !pto.tile<1x1000xf32>, !pto.tile<1x1000xi32>)
%zero_2 = texpands %c0_i32 : (i32) -> !pto.tile<1x2000xi32>
%away_2 = mgather.elem %fault, %zero_2 : (!pto.memref<1x8xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%keep_2_2 = tmuls %away_2, %cm1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%keep_2_3 = tadds %keep_2_2, %c1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%lane_2 = tci %c0_i32 : (i32) -> !pto.tile<1x2000xi32>
.const %c104858_i32 = 104858 : i32
%quotient = tmuls %lane_2, %c104858_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
.const %c21_i32 = 21 : i32
%quotient_2 = tshrs %quotient, %c21_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
.const %cm20_i32 = -20 : i32
%digit = tmuls %quotient_2, %cm20_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%digit_2 = tadd %lane_2, %digit : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%update = tload %updates[0, 0] : (!pto.memref<1x2000xf32>, index, index) -> !pto.tile<1x2000xf32>
%place_2_2 = tmuls %quotient_2, %c2_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_2_2 = mgather.elem %indices, %place_2_2 : (!pto.memref<1x200xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%place_2_3 = tadds %place_2_2, %c1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%high_2_2 = mgather.elem %indices, %place_2_3 : (!pto.memref<1x200xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%low_sign_2_2 = tmaxs %low_2_2, %cm1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_sign_2_3 = tmins %low_sign_2_2, %c0_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%high_2_3 = tmaxs %high_2_2, %cm2_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%high_2_4 = tmins %high_2_3, %c1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%high_2_5 = tsub %high_2_4, %low_sign_2_3 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%high_2_6 = tmaxs %high_2_5, %cm1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%high_2_7 = tmins %high_2_6, %c1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_sign_2_4 = tmul %high_2_7, %high_2_7 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%low_sign_2_5 = tmuls %low_sign_2_4, %cm1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_sign_2_6 = tadds %low_sign_2_5, %c1_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_2_3 = tmul %low_2_2, %low_sign_2_6 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%high_2_8 = tmuls %high_2_7, %c2147483647_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%low_2_4 = tadd %low_2_3, %high_2_8 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
.const %c20_i32 = 20 : i32
%low_2_5 = tmuls %low_2_4, %c20_i32 : (!pto.tile<1x2000xi32>, i32) -> !pto.tile<1x2000xi32>
%at = tadd %digit_2, %low_2_5 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%at_2 = tmul %at, %keep_2_3 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
%at_3 = tsub %at_2, %away_2 : (!pto.tile<1x2000xi32>, !pto.tile<1x2000xi32>) -> !pto.tile<1x2000xi32>
mscatter.elem.skip %result, %update, %at_3 : (!pto.memref<1x1000xf32>, !pto.tile<1x2000xf32>, !pto.tile<1x2000xi32>)
