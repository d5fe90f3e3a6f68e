const _: () = assert!(size_of::<Part>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Value>() <= 40 && 40 <= 1024);
