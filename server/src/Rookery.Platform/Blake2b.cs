using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Rookery.Platform;

/// <summary>
/// Computes BLAKE2b with a result of 32 bytes and without a key (RFC 7693), in parts. Not thread-safe.
/// </summary>
public sealed class Blake2b
{
    /// <summary>Length of the result.</summary>
    public const int HashBytes = 32;

    private const int BlockBytes = 128;
    private const int Rounds = 12;

    // RFC 7693, section 2.5: digest length, no key, fanout 1, depth 1.
    private const ulong Parameters = 0x01010000UL ^ HashBytes;

    // RFC 7693, section 2.6.
    private static readonly ulong[] Initial =
    [
        0x6a09e667f3bcc908,
        0xbb67ae8584caa73b,
        0x3c6ef372fe94f82b,
        0xa54ff53a5f1d36f1,
        0x510e527fade682d1,
        0x9b05688c2b3e6c1f,
        0x1f83d9abfb41bd6b,
        0x5be0cd19137e2179,
    ];

    private readonly ulong[] _state = new ulong[8];
    private readonly byte[] _block = new byte[BlockBytes];
    private int _length; // bytes in _block
    private ulong _total; // bytes compressed; the input is shorter than 2^64

    /// <summary>Creates the hash of an empty input.</summary>
    public Blake2b()
    {
        Initial.CopyTo(_state, 0);
        _state[0] ^= Parameters;
    }

    // RFC 7693, section 2.7; the last two rounds repeat the first two.
    // csharpier-ignore
    private static ReadOnlySpan<byte> Order =>
        [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
            14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
            11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
            7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
            9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
            2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
            12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
            13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
            6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
            10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
        ];

    /// <summary>Adds bytes.</summary>
    public void Append(ReadOnlySpan<byte> data)
    {
        // The last block is compressed by Finish, so a full block waits for the byte after it.
        if (_length + data.Length <= BlockBytes)
        {
            data.CopyTo(_block.AsSpan(_length));
            _length += data.Length;
            return;
        }

        int taken = BlockBytes - _length;
        data[..taken].CopyTo(_block.AsSpan(_length));
        _total += BlockBytes;
        Compress(_block, isLast: false);
        data = data[taken..];
        while (data.Length > BlockBytes)
        {
            _total += BlockBytes;
            Compress(data[..BlockBytes], isLast: false);
            data = data[BlockBytes..];
        }

        data.CopyTo(_block);
        _length = data.Length;
    }

    /// <summary>Writes the hash; call it once.</summary>
    /// <param name="destination">At least <see cref="HashBytes"/> bytes.</param>
    public void Finish(Span<byte> destination)
    {
        _block.AsSpan(_length).Clear();
        _total += (ulong)_length;
        Compress(_block, isLast: true);
        for (int i = 0; i < HashBytes / sizeof(ulong); i++)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(destination[(i * sizeof(ulong))..], _state[i]);
        }
    }

    // RFC 7693, section 3.2. The sixteen working words are locals, which the compiler keeps in registers.
    private void Compress(ReadOnlySpan<byte> block, bool isLast)
    {
        Span<ulong> words = stackalloc ulong[16];
        for (int i = 0; i < words.Length; i++)
        {
            words[i] = BinaryPrimitives.ReadUInt64LittleEndian(block[(i * sizeof(ulong))..]);
        }

        ulong[] state = _state;
        ulong[] initial = Initial;
        ulong v0 = state[0];
        ulong v1 = state[1];
        ulong v2 = state[2];
        ulong v3 = state[3];
        ulong v4 = state[4];
        ulong v5 = state[5];
        ulong v6 = state[6];
        ulong v7 = state[7];
        ulong v8 = initial[0];
        ulong v9 = initial[1];
        ulong v10 = initial[2];
        ulong v11 = initial[3];
        ulong v12 = initial[4] ^ _total;
        ulong v13 = initial[5];
        ulong v14 = isLast ? ~initial[6] : initial[6];
        ulong v15 = initial[7];
        ReadOnlySpan<byte> order = Order;
        for (int round = 0; round < Rounds; round++)
        {
            var s = order.Slice(round % 10 * 16, 16);
            Mix(ref v0, ref v4, ref v8, ref v12, words[s[0] & 15], words[s[1] & 15]);
            Mix(ref v1, ref v5, ref v9, ref v13, words[s[2] & 15], words[s[3] & 15]);
            Mix(ref v2, ref v6, ref v10, ref v14, words[s[4] & 15], words[s[5] & 15]);
            Mix(ref v3, ref v7, ref v11, ref v15, words[s[6] & 15], words[s[7] & 15]);
            Mix(ref v0, ref v5, ref v10, ref v15, words[s[8] & 15], words[s[9] & 15]);
            Mix(ref v1, ref v6, ref v11, ref v12, words[s[10] & 15], words[s[11] & 15]);
            Mix(ref v2, ref v7, ref v8, ref v13, words[s[12] & 15], words[s[13] & 15]);
            Mix(ref v3, ref v4, ref v9, ref v14, words[s[14] & 15], words[s[15] & 15]);
        }

        state[0] ^= v0 ^ v8;
        state[1] ^= v1 ^ v9;
        state[2] ^= v2 ^ v10;
        state[3] ^= v3 ^ v11;
        state[4] ^= v4 ^ v12;
        state[5] ^= v5 ^ v13;
        state[6] ^= v6 ^ v14;
        state[7] ^= v7 ^ v15;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Mix(ref ulong a, ref ulong b, ref ulong c, ref ulong d, ulong x, ulong y)
    {
        a += b + x;
        d = BitOperations.RotateRight(d ^ a, 32);
        c += d;
        b = BitOperations.RotateRight(b ^ c, 24);
        a += b + y;
        d = BitOperations.RotateRight(d ^ a, 16);
        c += d;
        b = BitOperations.RotateRight(b ^ c, 63);
    }
}
