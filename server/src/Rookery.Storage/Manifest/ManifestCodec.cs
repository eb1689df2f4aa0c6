using System.Buffers;
using System.Buffers.Binary;
using Rookery.Storage.Install;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Manifest;

/// <summary>
/// Encodes and decodes the body of a manifest: everything after the slot's header (<see cref="ManifestSlots"/>).
/// </summary>
/// <remarks>
/// All numbers are little-endian. A blob is [i32 length][bytes]. A list is [i32 count] and its items. The parts follow
/// each other:
/// <code>
/// [i64 index][i64 term][i64 sequence][i64 next file]
/// [blob store id]                                        16 bytes; empty in a copy
/// list of [blob from][blob to][i64 sequence]             range tombstones
/// list of [i32 group], list of sorted runs               groups; a sorted run is a list of files
/// list of [i64 file][i64 number in its checksums]        files that another node wrote
/// [i64 number, 0 for none][blob note]                    mark of an installed snapshot
/// [i64 dropped through][i64 since, -1 for a full state]  deletions
/// list of [blob from][blob to][i64 sequence]             past range tombstones
/// </code>
/// Version 1 is written if there are no files of another node and no mark; version 2 otherwise; version 3 for changes
/// instead of a full state. Older programs end a manifest after the groups, or before the deletions. Without the
/// deletions, all tombstones count as dropped.
/// </remarks>
internal static class ManifestCodec
{
    /// <summary>Returns the lowest format version that can express the manifest.</summary>
    public static int VersionOf(ManifestRecord manifest)
    {
        if (manifest.Since is not null)
        {
            return 3;
        }

        if (manifest.Pending is null && !manifest.Files.Any(IsFromAnotherNode))
        {
            return 1;
        }

        return 2;
    }

    /// <summary>Encodes everything except revision and feature level, which are in the slot's header.</summary>
    public static void Encode(ManifestRecord manifest, IBufferWriter<byte> target)
    {
        Write(target, manifest.Position.Index);
        Write(target, manifest.Position.Term);
        Write(target, manifest.Position.Sequence);
        Write(target, manifest.NextFileId);
        Write(target, manifest.StoreId == Guid.Empty ? [] : manifest.StoreId.ToByteArray());
        Write(target, manifest.RangeTombstones);
        Write(target, manifest.Groups.Count);
        foreach (ManifestGroup group in manifest.Groups)
        {
            Write(target, group.Group);
            Write(target, group.SortedRuns.Count);
            foreach (IReadOnlyList<ManifestFile> run in group.SortedRuns)
            {
                Write(target, run.Count);
                foreach (ManifestFile file in run)
                {
                    Encode(file, target);
                }
            }
        }

        EncodeOrigins(manifest, target);
        Write(target, manifest.Pending?.Number ?? 0);
        Write(target, manifest.Pending?.Note ?? default);
        Write(target, manifest.DroppedThrough);
        Write(target, manifest.Since ?? -1);
        Write(target, manifest.PastRangeTombstones);
    }

    /// <summary>
    /// Decodes the output of <see cref="Encode(ManifestRecord, IBufferWriter{byte})"/>. The bytes must have passed
    /// their checksum.
    /// </summary>
    public static ManifestRecord Decode(ReadOnlySpan<byte> bytes, long revision, int featureLevel)
    {
        var position = new ManifestPosition(ReadLong(ref bytes), ReadLong(ref bytes), ReadLong(ref bytes));
        long nextFileId = ReadLong(ref bytes);
        byte[] storeId = ReadBlob(ref bytes);
        var tombstones = ReadRanges(ref bytes);
        var groups = new ManifestGroup[ReadInt(ref bytes)];
        for (int i = 0; i < groups.Length; i++)
        {
            byte number = checked((byte)ReadInt(ref bytes));
            var runs = new IReadOnlyList<ManifestFile>[ReadInt(ref bytes)];
            for (int run = 0; run < runs.Length; run++)
            {
                var files = new ManifestFile[ReadInt(ref bytes)];
                for (int file = 0; file < files.Length; file++)
                {
                    files[file] = DecodeFile(ref bytes);
                }

                runs[run] = files;
            }

            groups[i] = new ManifestGroup(number, runs);
        }

        InstallMark? pending = null;
        if (!bytes.IsEmpty)
        {
            groups = DecodeOrigins(groups, ref bytes);
            long mark = ReadLong(ref bytes);
            byte[] note = ReadBlob(ref bytes);
            pending = mark == 0 ? null : new InstallMark(mark, note);
        }

        bool hasDeletions = !bytes.IsEmpty;
        long droppedThrough = hasDeletions ? ReadLong(ref bytes) : position.Sequence;
        long since = hasDeletions ? ReadLong(ref bytes) : -1;

        return new ManifestRecord
        {
            Revision = revision,
            FeatureLevel = featureLevel,
            Position = position,
            NextFileId = nextFileId,
            Groups = groups,
            RangeTombstones = tombstones,
            PastRangeTombstones = hasDeletions ? ReadRanges(ref bytes) : [],
            DroppedThrough = droppedThrough,
            Since = since < 0 ? null : since,
            StoreId = storeId.Length == 0 ? Guid.Empty : new Guid(storeId),
            Pending = pending,
        };
    }

    private static bool IsFromAnotherNode(ManifestFile file) => file.WrittenAs != file.Summary.FileId;

    // Encodes the numbers in the checksums of files that another node wrote.
    private static void EncodeOrigins(ManifestRecord manifest, IBufferWriter<byte> target)
    {
        ManifestFile[] foreign = [.. manifest.Files.Where(IsFromAnotherNode).DistinctBy(file => file.Summary.FileId)];
        Write(target, foreign.Length);
        foreach (ManifestFile file in foreign)
        {
            Write(target, file.Summary.FileId);
            Write(target, file.WrittenAs);
        }
    }

    private static ManifestGroup[] DecodeOrigins(ManifestGroup[] groups, ref ReadOnlySpan<byte> bytes)
    {
        var writtenAs = new Dictionary<long, long>();
        for (int count = ReadInt(ref bytes); count > 0; count--)
        {
            writtenAs.Add(ReadLong(ref bytes), ReadLong(ref bytes));
        }

        return [.. groups.Select(group => group with { SortedRuns = [.. group.SortedRuns.Select(WithOrigins)] })];

        IReadOnlyList<ManifestFile> WithOrigins(IReadOnlyList<ManifestFile> run) => [.. run.Select(WithOrigin)];

        ManifestFile WithOrigin(ManifestFile file) =>
            writtenAs.TryGetValue(file.Summary.FileId, out long number) ? file with { WrittenAs = number } : file;
    }

    private static void Encode(ManifestFile file, IBufferWriter<byte> target)
    {
        RunSummary summary = file.Summary;
        Write(target, summary.FileId);
        Write(target, summary.FileBytes);
        Write(target, summary.Rows);
        Write(target, summary.Tombstones);
        Write(target, summary.RangeTombstones);
        Write(target, summary.LogicalBytes);
        Write(target, summary.SmallestSequence);
        Write(target, summary.LargestSequence);
        Write(target, summary.SmallestKey);
        Write(target, summary.LargestKey);
        Write(target, file.From);
        Write(target, file.DeadBytes);
        Write(target, file.ClearedThrough);
    }

    private static ManifestFile DecodeFile(ref ReadOnlySpan<byte> bytes)
    {
        var summary = new RunSummary(
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadLong(ref bytes),
            ReadBlob(ref bytes),
            ReadBlob(ref bytes)
        );
        return new ManifestFile(summary, ReadBlob(ref bytes), ReadLong(ref bytes), ReadLong(ref bytes), summary.FileId);
    }

    private static void Write(IBufferWriter<byte> target, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(target.GetSpan(sizeof(long)), value);
        target.Advance(sizeof(long));
    }

    private static void Write(IBufferWriter<byte> target, IReadOnlyList<RangeTombstone> ranges)
    {
        Write(target, ranges.Count);
        foreach (RangeTombstone range in ranges)
        {
            Write(target, range.From);
            Write(target, range.ToExclusive);
            Write(target, range.Sequence);
        }
    }

    private static void Write(IBufferWriter<byte> target, int value)
    {
        BinaryPrimitives.WriteInt32LittleEndian(target.GetSpan(sizeof(int)), value);
        target.Advance(sizeof(int));
    }

    private static void Write(IBufferWriter<byte> target, ReadOnlyMemory<byte> blob)
    {
        Write(target, blob.Length);
        target.Write(blob.Span);
    }

    private static RangeTombstone[] ReadRanges(ref ReadOnlySpan<byte> bytes)
    {
        var ranges = new RangeTombstone[ReadInt(ref bytes)];
        for (int i = 0; i < ranges.Length; i++)
        {
            ranges[i] = new RangeTombstone(ReadBlob(ref bytes), ReadBlob(ref bytes), ReadLong(ref bytes));
        }

        return ranges;
    }

    private static long ReadLong(ref ReadOnlySpan<byte> bytes)
    {
        long value = BinaryPrimitives.ReadInt64LittleEndian(bytes);
        bytes = bytes[sizeof(long)..];
        return value;
    }

    private static int ReadInt(ref ReadOnlySpan<byte> bytes)
    {
        int value = BinaryPrimitives.ReadInt32LittleEndian(bytes);
        bytes = bytes[sizeof(int)..];
        return value;
    }

    private static byte[] ReadBlob(ref ReadOnlySpan<byte> bytes)
    {
        int length = ReadInt(ref bytes);
        byte[] blob = bytes[..length].ToArray();
        bytes = bytes[length..];
        return blob;
    }
}
