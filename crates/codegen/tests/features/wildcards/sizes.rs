const _: () = assert!(size_of::<Extensible>() <= 72 && 72 <= 1024);
const _: () = assert!(size_of::<ValueChoice>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Ambiguous>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Value>() <= 392 && 392 <= 1024);
