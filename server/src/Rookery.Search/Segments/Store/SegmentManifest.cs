using System.Buffers.Binary;
using System.Numerics;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>An entry of the manifest: one segment.</summary>
/// <param name="Summary">The part that never changes.</param>
/// <param name="Live">Its live entries.</param>
/// <param name="DeadDocuments">Number of documents without live entries.</param>
internal readonly record struct ManifestSegment(SegmentSummary Summary, LiveEntries Live, long DeadDocuments);

/// <summary>
/// The manifest of an index: its watermark, its segments, and their dead entries. It is one small file, which is
/// replaced as a whole after everything that it names is durable. So after a crash the index has exactly the state of
/// the old manifest or of the new one.
/// </summary>
/// <remarks>
/// Format version 1: magic "RKRYIXM\n", u32 version, then varints: watermark, next file number, number of segments. For
/// each segment: file number, file bytes, entries, dead documents, number of dead entries, and unless that is 0, a byte
/// and the dead entries as gaps (byte 0) or as a bitmap of u64 words (byte 1), whichever is shorter. At the end u32
/// CRC-32C of everything before.
/// </remarks>
internal sealed record SegmentManifest(long Watermark, long NextFileId, IReadOnlyList<ManifestSegment> Segments)
{
    /// <summary>The name of the file.</summary>
    public const string Name = "manifest";

    private const string FreshName = Name + ".new";

    private const int Version = 1;
    private const int HeaderBytes = 12;
    private const int MaxBytes = 1 << 30;
    private const int WordBits = 64;

    // The forms of the dead entries of a segment.
    private const byte GapsForm = 0;
    private const byte BitmapForm = 1;

    private static ReadOnlySpan<byte> Magic => "RKRYIXM\n"u8;

    /// <summary>Reads a folder's manifest.</summary>
    /// <returns>The manifest; null if the folder has none.</returns>
    /// <exception cref="SegmentDamagedException">The file is damaged or of another format version.</exception>
    public static SegmentManifest? Read(IDisk disk, string folder)
    {
        string path = Path.Combine(folder, Name);
        if (!disk.Exists(path))
        {
            return null;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        long length = file.Length;
        if (length is < HeaderBytes + sizeof(uint) or > MaxBytes)
        {
            throw new SegmentDamagedException(path, "its length is not that of a manifest");
        }

        byte[] bytes = new byte[length];
        int read = file.Read(bytes, 0);
        var content = bytes.AsSpan(0, bytes.Length - sizeof(uint));
        if (
            read < bytes.Length
            || !content.StartsWith(Magic)
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes.AsSpan(content.Length)) != Checksum.Of(content)
        )
        {
            throw new SegmentDamagedException(path, "its checksum does not match");
        }

        int version = BinaryPrimitives.ReadInt32LittleEndian(content[Magic.Length..]);
        return version == Version
            ? Parse(content[HeaderBytes..])
            : throw new SegmentDamagedException(
                path,
                $"its format version is {version}, and this program reads {Version}"
            );
    }

    /// <summary>
    /// Writes a new manifest durably, under another name. The current manifest stays valid until <see cref="Publish"/>.
    /// Everything that the new manifest names must already be durable.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed. The current manifest stays valid.</exception>
    public void Write(IDisk disk, string folder, IIoRecorder io)
    {
        var bytes = new GrowableBytes();
        bytes.Append(Magic);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.Take(sizeof(int)), Version);
        bytes.AppendVarint((ulong)Watermark);
        bytes.AppendVarint((ulong)NextFileId);
        bytes.AppendVarint((ulong)Segments.Count);
        foreach (var segment in Segments)
        {
            bytes.AppendVarint((ulong)segment.Summary.FileId);
            bytes.AppendVarint((ulong)segment.Summary.FileBytes);
            bytes.AppendVarint((ulong)segment.Summary.Entries);
            bytes.AppendVarint((ulong)segment.DeadDocuments);
            WriteDead(bytes, segment.Live);
        }

        BinaryPrimitives.WriteUInt32LittleEndian(bytes.Take(sizeof(uint)), Checksum.Of(bytes.Written[..^sizeof(uint)]));
        WriteFresh(disk, Path.Combine(folder, FreshName), bytes.Written, io);
    }

    /// <summary>Replaces a folder's manifest by the one that <see cref="Write"/> wrote, durably.</summary>
    /// <exception cref="DiskException">A disk operation failed. After a power cut, either manifest may
    /// exist.</exception>
    public static void Publish(IDisk disk, string folder)
    {
        disk.Rename(Path.Combine(folder, FreshName), Path.Combine(folder, Name));
        disk.SyncDirectory(folder);
    }

    private static void WriteFresh(IDisk disk, string fresh, ReadOnlySpan<byte> bytes, IIoRecorder io)
    {
        if (disk.Exists(fresh))
        {
            disk.Delete(fresh);
        }

        using (var file = disk.Open(fresh, DiskOpen.CreateNew))
        {
            long begun = io.Begin();
            file.Write(bytes, 0);
            file.Sync();
            io.Record(IoKind.Index, begun, bytes.Length);
        }
    }

    private static void WriteDead(GrowableBytes bytes, LiveEntries live)
    {
        bytes.AppendVarint((ulong)live.DeadCount);
        if (live.DeadCount == 0)
        {
            return;
        }

        int start = bytes.Length;
        bytes.Append(GapsForm);
        int previous = -1;
        int bitmapBytes = live.DeadWords.Length * sizeof(ulong);
        foreach (int entry in live.Dead())
        {
            bytes.AppendVarint((ulong)(entry - previous - 1));
            previous = entry;
            if (bytes.Length - start > bitmapBytes)
            {
                bytes.Truncate(start);
                bytes.Append(BitmapForm);
                foreach (ulong word in live.DeadWords)
                {
                    BinaryPrimitives.WriteUInt64LittleEndian(bytes.Take(sizeof(ulong)), word);
                }

                return;
            }
        }
    }

    private static SegmentManifest Parse(ReadOnlySpan<byte> bytes)
    {
        int at = 0;
        long watermark = (long)Varint.Read(bytes, ref at);
        long nextFileId = (long)Varint.Read(bytes, ref at);
        int count = Varint.ReadInt(bytes, ref at);
        var segments = new List<ManifestSegment>();
        for (int i = 0; i < count; i++)
        {
            var summary = new SegmentSummary(
                (long)Varint.Read(bytes, ref at),
                (long)Varint.Read(bytes, ref at),
                Varint.ReadInt(bytes, ref at)
            );
            long deadDocuments = (long)Varint.Read(bytes, ref at);
            if (
                summary.Entries > SegmentFormat.EntryLimit
                || summary.FileId >= nextFileId
                || deadDocuments > summary.Entries
            )
            {
                throw SegmentFormat.Malformed();
            }

            segments.Add(new ManifestSegment(summary, ReadDead(bytes, ref at, summary.Entries), deadDocuments));
        }

        return at == bytes.Length
            ? new SegmentManifest(watermark, nextFileId, segments)
            : throw SegmentFormat.Malformed();
    }

    private static LiveEntries ReadDead(ReadOnlySpan<byte> bytes, ref int at, int entries)
    {
        var all = LiveEntries.All(entries);
        int count = Varint.ReadInt(bytes, ref at);
        if (count == 0)
        {
            return all;
        }

        if (count > entries || at >= bytes.Length)
        {
            throw SegmentFormat.Malformed();
        }

        var dead = new List<int>(count);
        if (bytes[at++] == GapsForm)
        {
            long entry = -1;
            for (int i = 0; i < count; i++)
            {
                entry += (long)Varint.Read(bytes, ref at) + 1;
                dead.Add(entry >= 0 && entry < entries ? (int)entry : throw SegmentFormat.Malformed());
            }
        }
        else
        {
            for (int first = 0; first < entries; first += WordBits)
            {
                ulong word =
                    at <= bytes.Length - sizeof(ulong)
                        ? BinaryPrimitives.ReadUInt64LittleEndian(bytes[at..])
                        : throw SegmentFormat.Malformed();
                at += sizeof(ulong);
                // The last expression clears the lowest set bit.
                for (; word != 0; word &= word - 1)
                {
                    int entry = first + BitOperations.TrailingZeroCount(word);
                    dead.Add(entry < entries ? entry : throw SegmentFormat.Malformed());
                }
            }
        }

        var live = all.Without(dead);
        return live.DeadCount == count ? live : throw SegmentFormat.Malformed();
    }
}
