using System.Buffers.Binary;
using System.Numerics;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Encodes the content of a version by its differences from a newer one, the base:
/// <c>[length varint](copy or literal)*</c>, where a copy is <c>[2 × count varint][offset in the base varint]</c> and a
/// literal is <c>[2 × count + 1 varint][bytes]</c>. Part of the format: the same two versions always give the same
/// bytes.
/// </summary>
/// <remarks>
/// Most updates change one place of a document, so the common begin and end of both versions are removed first, which
/// takes 0.1 µs for 2 KB. Only the rest is searched for equal parts, by a table of hashes.
/// </remarks>
internal sealed class RevisionDelta
{
    private const int MaxTableBits = 14;
    private const int MinTableBits = 8;
    private const int HashedBytes = sizeof(ulong);

    // A shorter rest is written as it is: a copy takes up to ten bytes.
    private const int SearchedBytes = 32;

    private readonly int[] _positions = new int[1 << MaxTableBits];

    /// <summary>Appends the differences.</summary>
    /// <param name="output">Receives the encoded bytes.</param>
    /// <param name="content">The older content.</param>
    /// <param name="newer">The base.</param>
    public void Encode(PooledBytes output, ReadOnlySpan<byte> content, ReadOnlySpan<byte> newer)
    {
        WriteNumber(output, (uint)content.Length);
        int prefix = content.CommonPrefixLength(newer);
        int suffix = CommonSuffixLength(content[prefix..], newer[prefix..]);
        WriteCopy(output, prefix, 0);
        var rest = content[prefix..^suffix];
        var base_ = newer[prefix..^suffix];
        if (rest.Length < SearchedBytes || base_.Length < SearchedBytes)
        {
            WriteLiteral(output, rest);
        }
        else
        {
            Search(output, rest, base_, prefix);
        }

        WriteCopy(output, suffix, newer.Length - suffix);
    }

    /// <summary>Appends the older content.</summary>
    /// <exception cref="StoredDocumentException">The bytes are no differences from this base.</exception>
    public static void Decode(PooledBytes output, ReadOnlySpan<byte> delta, ReadOnlySpan<byte> newer)
    {
        int at = 0;
        if (!Varint.TryRead(delta, ref at, out int length))
        {
            throw DocumentView.Broken();
        }

        int end = output.Length + length;
        output.Reserve(length);
        while (at < delta.Length)
        {
            ReadOnlySpan<byte> part = default;
            if (!Varint.TryRead(delta, ref at, out int kind))
            {
                throw DocumentView.Broken();
            }

            int count = kind >> 1;
            if ((kind & 1) != 0)
            {
                part = count <= delta.Length - at ? delta.Slice(at, count) : throw DocumentView.Broken();
                at += count;
            }
            else
            {
                part =
                    Varint.TryRead(delta, ref at, out int offset) && offset <= newer.Length - count
                        ? newer.Slice(offset, count)
                        : throw DocumentView.Broken();
            }

            if (count > end - output.Length)
            {
                throw DocumentView.Broken();
            }

            output.Append(part);
        }

        if (output.Length != end)
        {
            throw DocumentView.Broken();
        }
    }

    private void Search(PooledBytes output, ReadOnlySpan<byte> rest, ReadOnlySpan<byte> base_, int baseOffset)
    {
        int bits = Math.Clamp(BitOperations.Log2((uint)base_.Length) + 1, MinTableBits, MaxTableBits);
        var positions = _positions.AsSpan(0, 1 << bits);
        positions.Fill(-1);
        // Of a long base, only every stride-th position is entered. So equal parts are found only if they are a little
        // longer.
        int stride = Math.Max(1, base_.Length >> bits);
        for (int at = 0; at <= base_.Length - HashedBytes; at += stride)
        {
            positions[Hash(base_[at..], bits)] = at;
        }

        int written = 0;
        int next = 0;
        while (next <= rest.Length - HashedBytes)
        {
            int found = positions[Hash(rest[next..], bits)];
            int length = found < 0 ? 0 : rest[next..].CommonPrefixLength(base_[found..]);
            if (length < HashedBytes)
            {
                next++;
                continue;
            }

            int before = Math.Min(CommonSuffixLength(rest[written..next], base_[..found]), next - written);
            WriteLiteral(output, rest[written..(next - before)]);
            WriteCopy(output, length + before, baseOffset + found - before);
            next += length;
            written = next;
        }

        WriteLiteral(output, rest[written..]);
    }

    private static int Hash(ReadOnlySpan<byte> bytes, int bits) =>
        (int)((BinaryPrimitives.ReadUInt64LittleEndian(bytes) * 0x9E3779B97F4A7C15UL) >> (64 - bits));

    private static int CommonSuffixLength(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        int max = Math.Min(left.Length, right.Length);
        int length = 0;
        while (
            max - length >= HashedBytes
            && BinaryPrimitives.ReadUInt64LittleEndian(left[^(length + HashedBytes)..])
                == BinaryPrimitives.ReadUInt64LittleEndian(right[^(length + HashedBytes)..])
        )
        {
            length += HashedBytes;
        }

        while (length < max && left[^(length + 1)] == right[^(length + 1)])
        {
            length++;
        }

        return length;
    }

    private static void WriteCopy(PooledBytes output, int count, int offset)
    {
        if (count > 0)
        {
            WriteNumber(output, (uint)count << 1);
            WriteNumber(output, (uint)offset);
        }
    }

    private static void WriteLiteral(PooledBytes output, ReadOnlySpan<byte> bytes)
    {
        if (!bytes.IsEmpty)
        {
            WriteNumber(output, ((uint)bytes.Length << 1) | 1);
            output.Append(bytes);
        }
    }

    private static void WriteNumber(PooledBytes output, uint number) =>
        output.Advance(Varint.Write(output.Reserve(Varint.MaxBytes32), number));
}
