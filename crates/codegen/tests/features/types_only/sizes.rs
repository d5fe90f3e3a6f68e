const _: () = assert!(size_of::<Color>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<PartChoice>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Part>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Further>() <= 40 && 40 <= 1024);
const _: () = assert!(size_of::<PartOrDerived>() <= 112 && 112 <= 1024);
const _: () = assert!(size_of::<Parts>() <= 24 && 24 <= 1024);
