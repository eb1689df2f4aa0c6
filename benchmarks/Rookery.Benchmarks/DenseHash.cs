using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Rookery.Benchmarks;

/// <summary>
/// An extendible hash (Fagin et al. 1979) of 64-bit keys, in buckets of one cache line. A bucket has the keys, and the
/// values as varints. A full bucket gets an overflow bucket; a full chain of buckets is split in two. The chains keep
/// the buckets full and the directory small, and cost a get one cache miss for each bucket that it passes.
/// </summary>
/// <remarks>
/// A bucket begins with four bytes: the number of entries in the low three bits, and above them the number of the next
/// bucket, or 0. The keys follow. The values are written from the bucket's end towards its beginning, each with its
/// bytes in falling order.
/// </remarks>
internal sealed unsafe class DenseHash : IDisposable
{
    private const int BucketBytes = 64;
    private const int HeadBytes = 4;
    private const int CountBits = 3;
    private const uint CountMask = (1 << CountBits) - 1;
    private const int MaxEntries = (int)CountMask;
    private const int BucketsPerChunk = 1 << 14; // one MiB
    private const int MaxDirectoryBits = 28;

    private readonly int _maxChain;
    private readonly List<nint> _chunks = [];
    private byte** _chunkTable;
    private int _chunkTableLength;
    private uint[] _directory = [1];
    private byte[] _depths = [0]; // hash bits that all keys of the chain share, for each entry of the directory
    private int _directoryBits;
    private uint _nextBucket = 1; // 0 means none
    private uint _free;

    /// <summary>Creates a map.</summary>
    /// <param name="maxChain">Buckets of a chain at most.</param>
    public DenseHash(int maxChain)
    {
        _maxChain = maxChain;
        Allocate();
    }

    /// <summary>Number of keys.</summary>
    public int Count { get; private set; }

    /// <summary>Bytes of buckets and directory.</summary>
    public long Bytes =>
        ((long)_chunks.Count * BucketsPerChunk * BucketBytes) + ((long)_directory.Length * (sizeof(uint) + 1));

    /// <summary>Buckets in use for each chain.</summary>
    public double MeanChain
    {
        get
        {
            long chains = 0;
            long buckets = 0;
            for (int i = 0; i < _directory.Length; i += 1 << (_directoryBits - _depths[i]))
            {
                chains++;
                for (uint at = _directory[i]; at != 0; at = Head(Bucket(at)) >> CountBits)
                {
                    buckets++;
                }
            }

            return (double)buckets / chains;
        }
    }

    /// <summary>Finds a key.</summary>
    public bool TryGet(ulong key, out ulong value)
    {
        for (uint at = _directory[IndexOf(key)]; at != 0; )
        {
            byte* bucket = Bucket(at);
            uint head = Head(bucket);
            int position = Find(bucket, (int)(head & CountMask), key);
            if (position >= 0)
            {
                value = ReadValue(bucket, position);
                return true;
            }

            at = head >> CountBits;
        }

        value = 0;
        return false;
    }

    /// <summary>Adds a key.</summary>
    /// <returns>False if the map has it already.</returns>
    public bool TryAdd(ulong key, ulong value)
    {
        while (true)
        {
            int index = IndexOf(key);
            int length = 0;
            for (uint at = _directory[index]; ; )
            {
                byte* bucket = Bucket(at);
                uint head = Head(bucket);
                int count = (int)(head & CountMask);
                if (Find(bucket, count, key) >= 0)
                {
                    return false;
                }

                length++;
                uint next = head >> CountBits;
                if (next == 0)
                {
                    if (TryAppend(bucket, count, key, value))
                    {
                        Count++;
                        return true;
                    }

                    if (length < _maxChain)
                    {
                        uint added = Allocate();
                        Head(bucket) = (added << CountBits) | (uint)count;
                        TryAppend(Bucket(added), 0, key, value);
                        Count++;
                        return true;
                    }

                    break;
                }

                at = next;
            }

            Split(index);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (nint chunk in _chunks)
        {
            NativeMemory.AlignedFree((void*)chunk);
        }

        _chunks.Clear();
        NativeMemory.Free(_chunkTable);
        _chunkTable = null;
    }

    private static ref uint Head(byte* bucket) => ref *(uint*)bucket;

    // Fibonacci hashing: the high bits depend on all bits of the key.
    private static ulong Hash(ulong key) => key * 0x9E3779B97F4A7C15;

    private int IndexOf(ulong key) => _directoryBits == 0 ? 0 : (int)(Hash(key) >> (64 - _directoryBits));

    private byte* Bucket(uint number) =>
        _chunkTable[number / BucketsPerChunk] + (number % BucketsPerChunk * BucketBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Find(byte* bucket, int count, ulong key)
    {
        byte* at = bucket + HeadBytes;
        for (int i = 0; i < count; i++, at += sizeof(ulong))
        {
            if (*(ulong*)at == key)
            {
                return i;
            }
        }

        return -1;
    }

    private static ulong ReadValue(byte* bucket, int position)
    {
        byte* at = bucket + BucketBytes - 1;
        for (; position > 0; position--)
        {
            while (*at-- >= 0x80) { }
        }

        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte part = *at--;
            value |= (ulong)(part & 0x7F) << shift;
            if (part < 0x80)
            {
                return value;
            }
        }
    }

    private static int VarintBytes(ulong value) => (BitOperations.Log2(value | 1) / 7) + 1;

    private static bool TryAppend(byte* bucket, int count, ulong key, ulong value)
    {
        byte* end = bucket + BucketBytes - 1;
        for (int i = 0; i < count; i++)
        {
            while (*end-- >= 0x80) { }
        }

        byte* place = bucket + HeadBytes + (count * sizeof(ulong));
        if (count == MaxEntries || end + 1 - place < sizeof(ulong) + VarintBytes(value))
        {
            return false;
        }

        *(ulong*)place = key;
        for (; value >= 0x80; value >>= 7)
        {
            *end-- = (byte)(value | 0x80);
        }

        *end = (byte)value;
        Head(bucket)++;
        return true;
    }

    // Divides a chain by the next bit of the hash. If all keys have the same bit, the caller divides again.
    private void Split(int index)
    {
        if (_depths[index] == _directoryBits)
        {
            DoubleDirectory();
            index *= 2;
        }

        int depth = _depths[index];
        int span = 1 << (_directoryBits - depth);
        int first = index & -span;
        uint old = _directory[first];
        uint low = Allocate();
        uint high = Allocate();
        _directory.AsSpan(first, span / 2).Fill(low);
        _directory.AsSpan(first + (span / 2), span / 2).Fill(high);
        _depths.AsSpan(first, span).Fill((byte)(depth + 1));
        uint lowEnd = low;
        uint highEnd = high;
        while (old != 0)
        {
            byte* bucket = Bucket(old);
            int count = (int)(Head(bucket) & CountMask);
            for (int i = 0; i < count; i++)
            {
                ulong key = *(ulong*)(bucket + HeadBytes + (i * sizeof(ulong)));
                bool isHigh = ((Hash(key) >> (63 - depth)) & 1) != 0;
                Move(ref isHigh ? ref highEnd : ref lowEnd, key, ReadValue(bucket, i));
            }

            uint next = Head(bucket) >> CountBits;
            Free(old);
            old = next;
        }
    }

    private void Move(ref uint end, ulong key, ulong value)
    {
        byte* bucket = Bucket(end);
        int count = (int)(Head(bucket) & CountMask);
        if (!TryAppend(bucket, count, key, value))
        {
            uint added = Allocate();
            Head(bucket) = (added << CountBits) | (uint)count;
            TryAppend(Bucket(added), 0, key, value);
            end = added;
        }
    }

    private void DoubleDirectory()
    {
        if (_directoryBits == MaxDirectoryBits)
        {
            throw new InvalidOperationException("Too many keys have the same hash bits.");
        }

        uint[] directory = new uint[2 * _directory.Length];
        byte[] depths = new byte[2 * _depths.Length];
        for (int i = 0; i < _directory.Length; i++)
        {
            directory[2 * i] = directory[(2 * i) + 1] = _directory[i];
            depths[2 * i] = depths[(2 * i) + 1] = _depths[i];
        }

        (_directory, _depths) = (directory, depths);
        _directoryBits++;
    }

    private uint Allocate()
    {
        uint bucket = _free;
        if (bucket != 0)
        {
            _free = Head(Bucket(bucket)) >> CountBits;
        }
        else
        {
            bucket = _nextBucket++;
            if (bucket / BucketsPerChunk >= _chunks.Count)
            {
                AddChunk();
            }
        }

        Head(Bucket(bucket)) = 0;
        return bucket;
    }

    private void Free(uint bucket)
    {
        Head(Bucket(bucket)) = _free << CountBits;
        _free = bucket;
    }

    private void AddChunk()
    {
        if (_chunks.Count == _chunkTableLength)
        {
            _chunkTableLength = Math.Max(16, 2 * _chunkTableLength);
            _chunkTable = (byte**)NativeMemory.Realloc(_chunkTable, (nuint)(_chunkTableLength * sizeof(byte*)));
        }

        byte* chunk = (byte*)NativeMemory.AlignedAlloc(BucketsPerChunk * BucketBytes, BucketBytes);
        _chunkTable[_chunks.Count] = chunk;
        _chunks.Add((nint)chunk);
    }
}
