;; Finds where a rule could begin, 64 places at a time. prefilter.ts has the tables: at 0, for each of four bytes, which
;; groups of rules have its low nibble (16 bytes) and its high nibble (16 bytes) there; at 1024, for each of four bytes,
;; the exact 32-bit mask of rules by byte. Bytes stand at 8192, places found (32 bits each) at 81920.
;; Compiled into heads-binary.ts by scripts/compile-heads.mjs.
(module
  (memory (export "memory") 6)
  (func (export "find")
    (param $at i32) (param $end i32)
    (result i32)
    (local $out i32) (local $from i32) (local $place i32) (local $bits i64) (local $shift i64) (local $left i32)
    (local $block v128) (local $low v128)
    (local $l0 v128) (local $h0 v128) (local $l1 v128) (local $h1 v128)
    (local $l2 v128) (local $h2 v128) (local $l3 v128) (local $h3 v128)
    (local $n0 v128) (local $n1 v128) (local $n2 v128) (local $n3 v128)
    (local.set $low (i8x16.splat (i32.const 15)))
    (local.set $l0 (v128.load (i32.const 0)))
    (local.set $h0 (v128.load (i32.const 16)))
    (local.set $l1 (v128.load (i32.const 32)))
    (local.set $h1 (v128.load (i32.const 48)))
    (local.set $l2 (v128.load (i32.const 64)))
    (local.set $h2 (v128.load (i32.const 80)))
    (local.set $l3 (v128.load (i32.const 96)))
    (local.set $h3 (v128.load (i32.const 112)))
    (local.set $out (i32.const 81920))
    (local.set $from (local.get $at))
    (loop $blocks
      (local.set $block (v128.load (local.get $at)))
      (local.set $n0 (v128.and
        (i8x16.swizzle (local.get $l0) (v128.and (local.get $block) (local.get $low)))
        (i8x16.swizzle (local.get $h0) (i8x16.shr_u (local.get $block) (i32.const 4)))))
      (local.set $block (v128.load offset=1 (local.get $at)))
      (local.set $n1 (v128.and
        (i8x16.swizzle (local.get $l1) (v128.and (local.get $block) (local.get $low)))
        (i8x16.swizzle (local.get $h1) (i8x16.shr_u (local.get $block) (i32.const 4)))))
      (local.set $block (v128.load offset=2 (local.get $at)))
      (local.set $n2 (v128.and
        (i8x16.swizzle (local.get $l2) (v128.and (local.get $block) (local.get $low)))
        (i8x16.swizzle (local.get $h2) (i8x16.shr_u (local.get $block) (i32.const 4)))))
      (local.set $block (v128.load offset=3 (local.get $at)))
      (local.set $n3 (v128.and
        (i8x16.swizzle (local.get $l3) (v128.and (local.get $block) (local.get $low)))
        (i8x16.swizzle (local.get $h3) (i8x16.shr_u (local.get $block) (i32.const 4)))))
      (local.set $bits (i64.or (local.get $bits) (i64.shl
        (i64.extend_i32_u (i32.xor (i32.const 65535) (i8x16.bitmask (i8x16.eq (v128.const i64x2 0 0)
          (v128.and
            (v128.and (local.get $n0) (local.get $n1))
            (v128.and (local.get $n2) (local.get $n3)))))))
        (local.get $shift))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $shift (i64.add (local.get $shift) (i64.const 16)))
      (br_if $blocks (i64.lt_s (local.get $shift) (i64.const 64)))
      (local.set $left (i32.sub (local.get $end) (local.get $from)))
      (if (i32.lt_u (local.get $left) (i32.const 64))
        (then (local.set $bits (i64.and (local.get $bits)
          (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $left))) (i64.const 1))))))
      (if (i64.ne (local.get $bits) (i64.const 0))
        (then
          (loop $places
            (local.set $place (i32.add (local.get $from) (i32.wrap_i64 (i64.ctz (local.get $bits)))))
            ;; Nibbles let some through: the exact masks decide, and what they do not let through is written over.
            (i32.store (local.get $out) (local.get $place))
            (local.set $out (i32.add (local.get $out) (i32.shl (i32.ne (i32.const 0)
              (i32.and
                (i32.and
                  (i32.load offset=1024 (i32.shl (i32.load8_u (local.get $place)) (i32.const 2)))
                  (i32.load offset=2048 (i32.shl (i32.load8_u offset=1 (local.get $place)) (i32.const 2))))
                (i32.and
                  (i32.load offset=3072 (i32.shl (i32.load8_u offset=2 (local.get $place)) (i32.const 2)))
                  (i32.load offset=4096 (i32.shl (i32.load8_u offset=3 (local.get $place)) (i32.const 2)))))) (i32.const 2))))
            (local.set $bits (i64.and (local.get $bits) (i64.sub (local.get $bits) (i64.const 1))))
            (br_if $places (i64.ne (local.get $bits) (i64.const 0))))))
      (local.set $from (i32.add (local.get $from) (i32.const 64)))
      (local.set $shift (i64.const 0))
      (br_if $blocks (i32.lt_u (local.get $from) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $out) (i32.const 81920)) (i32.const 2))))
