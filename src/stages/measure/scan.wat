;; Counts line breaks and UTF-16 units of UTF-8 bytes, 16 at a time while they are ASCII.
;; scan.ts writes the tables at 0 (byte classes, 256 bytes), 256 (10 states x 16 classes) and 416 (control characters,
;; 32 bytes). scripts/compile-wat.mjs compiles this file into scan.ts.
(module
  (memory (export "memory") 5)
  ;; Returns the sum of 16 counters.
  (func $sum (param $counters v128) (result i32)
    (local $wide v128)
    (local.set $wide (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $counters))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $wide)) (i32x4.extract_lane 1 (local.get $wide)))
      (i32.add (i32x4.extract_lane 2 (local.get $wide)) (i32x4.extract_lane 3 (local.get $wide)))))
  (func (export "scan")
    (param $at i32) (param $end i32) (param $state i32)
    (local $breaks i32) (local $chars i32) (local $high i32) (local $stop i32) (local $byte i32) (local $step i32)
    (local $block v128) (local $controls v128) (local $sums v128) (local $rounds i32) (local $from i32)
    (local $one v128) (local $two v128) (local $three v128) (local $four v128)
    (block $done
      (loop $blocks
        ;; Reads 64 bytes at a time. Breaks are summed in 16 counters, which hold 60 rounds of four.
        (block $narrow
          (loop $wide
            (br_if $narrow (i32.or (local.get $state)
              (i32.gt_u (i32.add (local.get $at) (i32.const 64)) (local.get $end))))
            (local.set $one (v128.load (local.get $at)))
            (local.set $two (v128.load offset=16 (local.get $at)))
            (local.set $three (v128.load offset=32 (local.get $at)))
            (local.set $four (v128.load offset=48 (local.get $at)))
            (br_if $narrow (i8x16.bitmask (v128.or
              (v128.or (local.get $one) (local.get $two)) (v128.or (local.get $three) (local.get $four)))))
            (local.set $sums (i8x16.sub (local.get $sums) (i8x16.add
              (i8x16.add (i8x16.eq (local.get $one) (i8x16.splat (i32.const 10)))
                (i8x16.eq (local.get $two) (i8x16.splat (i32.const 10))))
              (i8x16.add (i8x16.eq (local.get $three) (i8x16.splat (i32.const 10)))
                (i8x16.eq (local.get $four) (i8x16.splat (i32.const 10)))))))
            ;; Notes control characters that texts rarely have: below 7, and 14 to 31.
            (local.set $controls (v128.or (local.get $controls) (v128.or
              (i8x16.lt_u (i8x16.min_u (i8x16.min_u (local.get $one) (local.get $two))
                (i8x16.min_u (local.get $three) (local.get $four))) (i8x16.splat (i32.const 7)))
              (i8x16.lt_u (i8x16.min_u
                (i8x16.min_u (i8x16.sub (local.get $one) (i8x16.splat (i32.const 14)))
                  (i8x16.sub (local.get $two) (i8x16.splat (i32.const 14))))
                (i8x16.min_u (i8x16.sub (local.get $three) (i8x16.splat (i32.const 14)))
                  (i8x16.sub (local.get $four) (i8x16.splat (i32.const 14))))) (i8x16.splat (i32.const 18))))))
            (local.set $chars (i32.add (local.get $chars) (i32.const 64)))
            (local.set $at (i32.add (local.get $at) (i32.const 64)))
            (local.set $rounds (i32.add (local.get $rounds) (i32.const 1)))
            (br_if $wide (i32.lt_u (local.get $rounds) (i32.const 60)))
            (local.set $breaks (i32.add (local.get $breaks) (call $sum (local.get $sums))))
            (local.set $sums (v128.const i32x4 0 0 0 0))
            (local.set $rounds (i32.const 0))
            (br $wide)))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $stop (i32.add (local.get $at) (i32.const 16)))
        (if (i32.and (i32.eqz (local.get $state)) (i32.le_u (local.get $stop) (local.get $end)))
          (then
            (local.set $block (v128.load (local.get $at)))
            (if (i32.eqz (i8x16.bitmask (local.get $block)))
              (then
                (local.set $breaks (i32.add (local.get $breaks)
                  (i32.popcnt (i8x16.bitmask (i8x16.eq (local.get $block) (i8x16.splat (i32.const 10)))))))
                (local.set $chars (i32.add (local.get $chars) (i32.const 16)))
                (local.set $controls (v128.or (local.get $controls)
                  (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 7)))))
                (local.set $controls (v128.or (local.get $controls)
                  (i8x16.lt_u (i8x16.sub (local.get $block) (i8x16.splat (i32.const 14))) (i8x16.splat (i32.const 18)))))
                (local.set $at (local.get $stop))
                (br $blocks)))))
        (if (i32.gt_u (local.get $stop) (local.get $end)) (then (local.set $stop (local.get $end))))
        ;; Characters of three bytes, without those that begin with E0 or ED, are taken whole: most of Asian text.
        (local.set $from (local.get $at))
        (block $other
          (loop $three
            (br_if $other (i32.or (local.get $state)
              (i32.gt_u (i32.add (local.get $at) (i32.const 4)) (local.get $end))))
            (local.set $step (i32.load (local.get $at)))
            (local.set $byte (i32.and (local.get $step) (i32.const 0xff)))
            (br_if $other (i32.ne (i32.and (local.get $step) (i32.const 0xc0c0f0)) (i32.const 0x8080e0)))
            (br_if $other (i32.or (i32.eq (local.get $byte) (i32.const 0xe0)) (i32.eq (local.get $byte) (i32.const 0xed))))
            (local.set $chars (i32.add (local.get $chars) (i32.const 1)))
            (local.set $high (i32.add (local.get $high) (i32.const 3)))
            (local.set $at (i32.add (local.get $at) (i32.const 3)))
            (br $three)))
        (br_if $blocks (i32.ne (local.get $at) (local.get $from)))
        (loop $bytes
          (local.set $byte (i32.load8_u (local.get $at)))
          (br_if $blocks (i32.and
            (i32.and (i32.eqz (local.get $state)) (i32.ne (local.get $at) (local.get $from)))
            (i32.eq (i32.and (local.get $byte) (i32.const 0xf0)) (i32.const 0xe0))))
          (local.set $breaks (i32.add (local.get $breaks) (i32.eq (local.get $byte) (i32.const 10))))
          (local.set $controls (v128.or (local.get $controls) (i8x16.splat
            (i32.and (i32.lt_u (local.get $byte) (i32.const 32))
              (i32.gt_u (i32.sub (local.get $byte) (i32.const 7)) (i32.const 6))))))
          (local.set $high (i32.add (local.get $high) (i32.shr_u (local.get $byte) (i32.const 7))))
          (local.set $step (i32.load8_u offset=256
            (i32.or (i32.shl (local.get $state) (i32.const 4)) (i32.load8_u (local.get $byte)))))
          (local.set $chars (i32.add (local.get $chars)
            (i32.and (i32.shr_u (local.get $step) (i32.const 4)) (i32.const 3))))
          (local.set $state (i32.and (local.get $step) (i32.const 15)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $bytes (i32.lt_u (local.get $at) (local.get $stop))))
        (br $blocks)))
    (local.set $breaks (i32.add (local.get $breaks) (call $sum (local.get $sums))))
    ;; Writes the results to memory. If they were returned, they would come as a list, which takes longer than a small
    ;; scan.
    (i32.store (i32.const 448) (local.get $breaks))
    (i32.store (i32.const 452) (local.get $chars))
    (i32.store (i32.const 456) (local.get $state))
    (i32.store (i32.const 460) (local.get $high))
    (i32.store (i32.const 464) (v128.any_true (local.get $controls))))

  ;; Counts what no text has: control characters (by the table at 416) and invalid stretches (bits 6 and 7 of a step).
  (func (export "strange")
    (param $at i32) (param $end i32)
    (result i32)
    (local $state i32) (local $count i32) (local $stop i32) (local $byte i32) (local $step i32) (local $block v128)
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $stop (i32.add (local.get $at) (i32.const 16)))
        (if (i32.and (i32.eqz (local.get $state)) (i32.le_u (local.get $stop) (local.get $end)))
          (then
            (local.set $block (v128.load (local.get $at)))
            ;; Every byte is ASCII and either printable or one of 7 to 13, which texts have.
            (if (i32.and (i32.eqz (i8x16.bitmask (local.get $block)))
                (i8x16.all_true (v128.or
                  (i8x16.gt_u (local.get $block) (i8x16.splat (i32.const 31)))
                  (i8x16.lt_u (i8x16.sub (local.get $block) (i8x16.splat (i32.const 7))) (i8x16.splat (i32.const 7))))))
              (then
                (local.set $at (local.get $stop))
                (br $blocks)))))
        (if (i32.gt_u (local.get $stop) (local.get $end)) (then (local.set $stop (local.get $end))))
        (loop $bytes
          (local.set $byte (i32.load8_u (local.get $at)))
          (if (i32.lt_u (local.get $byte) (i32.const 32))
            (then (local.set $count (i32.add (local.get $count) (i32.load8_u offset=416 (local.get $byte))))))
          (local.set $step (i32.load8_u offset=256
            (i32.or (i32.shl (local.get $state) (i32.const 4)) (i32.load8_u (local.get $byte)))))
          (local.set $count (i32.add (local.get $count) (i32.shr_u (local.get $step) (i32.const 6))))
          (local.set $state (i32.and (local.get $step) (i32.const 15)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $bytes (i32.lt_u (local.get $at) (local.get $stop))))
        (br $blocks)))
    (local.get $count)))
