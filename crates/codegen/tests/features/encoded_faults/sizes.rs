const _: () = assert!(size_of::<OpenRequest>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<OpenResponse>() <= 1 && 1 <= 1024);
const _: () = assert!(size_of::<Locked>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Lost>() <= 16 && 16 <= 1024);
const _: () = assert!(size_of::<OpenFault>() <= 32 && 32 <= 1024);
