using System.Buffers.Binary;
using System.Text;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Flipped bits in the journal of a stopped member. They can be flipped back, as if the owner restored an undamaged
/// copy of the file.
/// </summary>
internal sealed class JournalRot
{
    private const int BlockBytes = 4096;

    // The magic numbers at which segments and frames begin, and the offsets of fields, in bytes, as in Rookery.Journal.
    // The generation tells the uses of a segment's file apart. The write number is equal in all frames of one write.
    private const ulong SegmentMagic = 0x314745534A4B52FF;
    private const uint FrameMagic = 0x464B52FF;
    private const int GenerationOffsetInSegment = 24;
    private const int GenerationOffsetInFrame = 8;
    private const int WriteOffsetInFrame = 16;

    // A flip within this many bytes hits the frame's header or the beginning of its payload.
    private const int HeaderBytes = 160;

    private readonly SteppedMember _member;
    private readonly List<(string Path, long Offset, byte Mask)> _flipped = [];

    private JournalRot(SteppedMember member) => _member = member;

    /// <summary>
    /// Flips a bit, or one in each of several consecutive blocks, of durable data; null when there is too little.
    /// Spares the newest write, because rot there cannot be distinguished from a torn write.
    /// </summary>
    public static JournalRot? Inflict(SteppedMember member, Random random)
    {
        var rot = new JournalRot(member);
        var segments = rot.Segments().OrderBy(segment => segment.StartNumber).ToList();
        if (segments.Count == 0 || segments[^1].Frames.Count == 0)
        {
            return null;
        }

        var newest = segments[^1];
        var places = segments
            .SelectMany(segment => segment.Frames.Select(offset => (segment.Path, Offset: offset)))
            .ToList();
        places.RemoveAll(place =>
            string.Equals(place.Path, newest.Path, StringComparison.Ordinal) && place.Offset >= newest.LastWrite
        );
        if (random.Next(8) == 0 && newest.Frames[0] < newest.LastWrite)
        {
            // In the header of a segment.
            rot.Flip(segments[random.Next(segments.Count)].Path, random.Next(BlockBytes), random);
        }
        else if (places.Count > 0)
        {
            var (path, offset) = places[random.Next(places.Count)];
            int blocks = random.Next(4) == 0 ? random.Next(2, 5) : 1;
            for (int i = 0; i < blocks; i++)
            {
                long blockOffset = offset + (i * BlockBytes);
                if (i > 0 && !places.Contains((path, blockOffset)))
                {
                    break;
                }

                int bytesToHit = random.Next(2) == 0 ? HeaderBytes : BlockBytes;
                rot.Flip(path, blockOffset + random.Next(bytesToHit), random);
            }
        }

        return rot._flipped.Count == 0 ? null : rot;
    }

    /// <summary>Damages the journal at the first occurrence of a text, or the header of that write.</summary>
    public static JournalRot At(SteppedMember member, string text, bool inHeader = false)
    {
        var rot = new JournalRot(member);
        foreach (var segment in rot.Segments())
        {
            int at = member.Disk.ReadAll(segment.Path).AsSpan().IndexOf(Encoding.UTF8.GetBytes(text));
            if (at >= 0)
            {
                rot.Flip(segment.Path, inHeader ? at & -BlockBytes : at, new Random(1));
                return rot;
            }
        }

        throw new ArgumentException($"{text} is not in the journal of {member}", nameof(text));
    }

    /// <summary>Flips the bits back.</summary>
    public void Undo() => _flipped.ForEach(bit => _member.Disk.Rot(bit.Path, bit.Offset, bit.Mask));

    private void Flip(string path, long offset, Random random)
    {
        byte mask = (byte)(1 << random.Next(8));
        _flipped.Add((path, offset, mask));
        _member.Disk.Rot(path, offset, mask);
    }

    /// <summary>
    /// Returns the used segments with the blocks at which frames of their present use begin, and where the newest write
    /// begins.
    /// </summary>
    private IEnumerable<(string Path, long StartNumber, List<long> Frames, long LastWrite)> Segments()
    {
        foreach (
            string path in _member.Disk.Files.Where(path =>
                path.Contains("/journal/", StringComparison.Ordinal)
                && path.EndsWith(".segment", StringComparison.Ordinal)
            )
        )
        {
            byte[] bytes = _member.Disk.ReadAll(path);
            if (bytes.Length <= BlockBytes || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != SegmentMagic)
            {
                continue;
            }

            long generation = BinaryPrimitives.ReadInt64LittleEndian(bytes.AsSpan(GenerationOffsetInSegment));
            var frames = new List<long>();
            (long Write, long Offset) newest = default;
            for (int offset = BlockBytes; offset < bytes.Length; offset += BlockBytes)
            {
                var frame = bytes.AsSpan(offset);
                if (
                    BinaryPrimitives.ReadUInt32LittleEndian(frame) == FrameMagic
                    && BinaryPrimitives.ReadInt64LittleEndian(frame[GenerationOffsetInFrame..]) == generation
                )
                {
                    frames.Add(offset);
                    long write = BinaryPrimitives.ReadInt64LittleEndian(frame[WriteOffsetInFrame..]);
                    newest = write > newest.Write ? (write, offset) : newest;
                }
            }

            yield return (path, generation, frames, newest.Offset);
        }
    }
}
