using System.Buffers;
using System.Buffers.Binary;

namespace Rookery.Storage;

/// <summary>
/// A manifest's bytes, all numbers little-endian: [i64 index][i64 term][i64 sequence][i64 next file][blob store id: 16 bytes, or none in a checkpoint], range tombstones as [i32 count] of
/// [blob from][blob to][i64 sequence], groups as [i32 count] of [i32 group][i32 sorted runs] of [i32 files] of a file. A blob is [i32 length][bytes].
/// </summary>
internal static class ManifestCodec
{
    /// <summary>Writes everything but revision and feature level, which the slot's header carries.</summary>
    public static void Encode(ManifestRecord manifest, IBufferWriter<byte> target)
    {
        Write(target, manifest.Position.Index);
        Write(target, manifest.Position.Term);
        Write(target, manifest.Position.Sequence);
        Write(target, manifest.NextFileId);
        Write(target, manifest.StoreId == Guid.Empty ? [] : manifest.StoreId.ToByteArray());
        Write(target, manifest.RangeTombstones.Count);
        foreach (RangeTombstone tombstone in manifest.RangeTombstones)
        {
            Write(target, tombstone.From);
            Write(target, tombstone.ToExclusive);
            Write(target, tombstone.Sequence);
        }

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
    }

    /// <summary>Reads what <see cref="Encode(ManifestRecord, IBufferWriter{byte})"/> wrote. The bytes have passed their checksum.</summary>
    public static ManifestRecord Decode(ReadOnlySpan<byte> bytes, long revision, int featureLevel)
    {
        var position = new ManifestPosition(ReadLong(ref bytes), ReadLong(ref bytes), ReadLong(ref bytes));
        long nextFileId = ReadLong(ref bytes);
        byte[] storeId = ReadBlob(ref bytes);
        var tombstones = new RangeTombstone[ReadInt(ref bytes)];
        for (int i = 0; i < tombstones.Length; i++)
        {
            tombstones[i] = new RangeTombstone(ReadBlob(ref bytes), ReadBlob(ref bytes), ReadLong(ref bytes));
        }

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

        return new ManifestRecord
        {
            Revision = revision,
            FeatureLevel = featureLevel,
            Position = position,
            NextFileId = nextFileId,
            Groups = groups,
            RangeTombstones = tombstones,
            StoreId = storeId.Length == 0 ? Guid.Empty : new Guid(storeId),
        };
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
            ReadBlob(ref bytes));
        return new ManifestFile(summary, ReadBlob(ref bytes), ReadLong(ref bytes), ReadLong(ref bytes));
    }

    private static void Write(IBufferWriter<byte> target, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(target.GetSpan(sizeof(long)), value);
        target.Advance(sizeof(long));
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
