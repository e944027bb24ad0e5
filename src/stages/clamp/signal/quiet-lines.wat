;; Passes over whole lines that hold no failure word, 16 bytes at a time. Four bytes that may begin one are found by
;; tables for each of the four places: at 32 * place the low halves of bytes, 16 further the high halves; a bit stands for
;; some of the words. Compiled into quiet-lines-binary.ts by scripts/compile-quiet-lines.mjs.
(module
  (memory (export "memory") 3)

  ;; From $at on, in a line that begins at $line. Returns where a word may begin (with $seeks 1), or $to or more. Leaves
  ;; at 128: where the first line begins that does not end before there, how many lines ended, 1 if some byte is not
  ;; ASCII, 1 if the line there is longer than $longest.
  (func (export "pass") (param $at i32) (param $to i32) (param $line i32) (param $seeks i32) (param $longest i32) (result i32)
    (local $breaks i32) (local $newlines i32) (local $words i32) (local $within i32) (local $long i32)
    (local $bytes v128) (local $any v128) (local $low v128) (local $high v128)
    (local $low0 v128) (local $low1 v128) (local $low2 v128) (local $low3 v128)
    (local $high0 v128) (local $high1 v128) (local $high2 v128) (local $high3 v128)
    (local $fits0 v128) (local $fits1 v128) (local $fits2 v128)
    (local $before0 v128) (local $before1 v128) (local $before2 v128)
    (local.set $low0 (v128.load offset=0 (i32.const 0)))
    (local.set $high0 (v128.load offset=16 (i32.const 0)))
    (local.set $low1 (v128.load offset=32 (i32.const 0)))
    (local.set $high1 (v128.load offset=48 (i32.const 0)))
    (local.set $low2 (v128.load offset=64 (i32.const 0)))
    (local.set $high2 (v128.load offset=80 (i32.const 0)))
    (local.set $low3 (v128.load offset=96 (i32.const 0)))
    (local.set $high3 (v128.load offset=112 (i32.const 0)))
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $to)))
        (local.set $within (i32.const 0xffff))
        (if (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $to))
          (then (local.set $within
            (i32.sub (i32.shl (i32.const 1) (i32.sub (local.get $to) (local.get $at))) (i32.const 1)))))
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $any (v128.or (local.get $any) (local.get $bytes)))
        (local.set $words (i32.const 0))
        (if (local.get $seeks)
          (then
            (local.set $low (v128.and (local.get $bytes) (i8x16.splat (i32.const 15))))
            ;; The bit of lower case is bit 1 of the high half.
            (local.set $high (i8x16.shr_u (v128.or (local.get $bytes) (i8x16.splat (i32.const 0x20))) (i32.const 4)))
            (local.set $fits0 (v128.and (i8x16.swizzle (local.get $low0) (local.get $low)) (i8x16.swizzle (local.get $high0) (local.get $high))))
            (local.set $fits1 (v128.and (i8x16.swizzle (local.get $low1) (local.get $low)) (i8x16.swizzle (local.get $high1) (local.get $high))))
            (local.set $fits2 (v128.and (i8x16.swizzle (local.get $low2) (local.get $low)) (i8x16.swizzle (local.get $high2) (local.get $high))))
            ;; A word's last byte stands at the bit, the others before it, maybe in the block before.
            (local.set $words (i32.and (local.get $within) (i32.xor (i32.const 0xffff) (i8x16.bitmask (i8x16.eq
              (v128.const i64x2 0 0)
              (v128.and
                (v128.and
                  (v128.and (i8x16.swizzle (local.get $low3) (local.get $low)) (i8x16.swizzle (local.get $high3) (local.get $high)))
                  (i8x16.shuffle 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 (local.get $before2) (local.get $fits2)))
                (v128.and
                  (i8x16.shuffle 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 (local.get $before1) (local.get $fits1))
                  (i8x16.shuffle 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 (local.get $before0) (local.get $fits0)))))))))
            (local.set $before0 (local.get $fits0))
            (local.set $before1 (local.get $fits1))
            (local.set $before2 (local.get $fits2))))
        (if (local.get $words)
          (then (local.set $within (i32.and (local.get $within)
            (i32.sub (i32.shl (i32.const 1) (i32.ctz (local.get $words))) (i32.const 1))))))
        (local.set $newlines (i32.and (local.get $within)
          (i8x16.bitmask (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 10))))))
        (if (local.get $newlines)
          (then
            (local.set $long (i32.gt_u
              (i32.sub (i32.add (i32.add (local.get $at) (i32.const 1)) (i32.ctz (local.get $newlines))) (local.get $line))
              (local.get $longest)))
            (br_if $done (local.get $long))
            (local.set $breaks (i32.add (local.get $breaks) (i32.popcnt (local.get $newlines))))
            (local.set $line (i32.add (local.get $at) (i32.sub (i32.const 32) (i32.clz (local.get $newlines))))))
          (else
            (local.set $long (i32.gt_u (i32.sub (local.get $at) (local.get $line)) (local.get $longest)))
            (br_if $done (local.get $long))))
        (if (local.get $words)
          (then
            (local.set $at (i32.add (local.get $at) (i32.sub (i32.ctz (local.get $words)) (i32.const 3))))
            (br $done)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (i32.store offset=128 (i32.const 0) (local.get $line))
    (i32.store offset=132 (i32.const 0) (local.get $breaks))
    (i32.store offset=136 (i32.const 0) (i32.ne (i32.const 0) (i8x16.bitmask (local.get $any))))
    (i32.store offset=140 (i32.const 0) (local.get $long))
    (local.get $at)))
