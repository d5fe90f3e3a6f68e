const _: () = assert!(size_of::<KeyHeader>() <= 4 && 4 <= 1024);
