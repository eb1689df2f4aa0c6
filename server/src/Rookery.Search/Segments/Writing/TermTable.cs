using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Rookery.Platform;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Hash table of the terms of a batch, with the encoded postings of each. Postings are stored in slices that double
/// from 8 bytes to 4 KiB, each with the address of the next at its end, so that a rare term is small and the postings
/// of a frequent one are never copied. Buckets contain the hashes, so usually one memory access shows that a term is
/// missing.
/// </summary>
internal sealed class TermTable(ByteArena arena, MemoryShare share) : IDisposable
{
    private const int FirstSliceBytes = 8;
    private const int MaxSliceBytes = 4096;
    private const int LinkBytes = sizeof(int);
    private const int FirstCapacity = 1024;
    private const int BucketsPerTerm = 2;

    /// <summary>Maximum terms of one <see cref="Prefetch"/>.</summary>
    public const int MaxPrefetched = 64;

    // Random in each process, so that a client cannot construct documents whose terms collide.
    private static readonly ulong[] Seeds =
    [
        .. System.Runtime.InteropServices.MemoryMarshal.Cast<byte, ulong>(
            RandomNumberGenerator.GetBytes(4 * sizeof(ulong))
        ),
    ];

    // A bucket is the hash (upper half) and 1 + the term number; 0 is free. Collisions use linear probing.
    private ulong[] _buckets = [];
    private Term[] _terms = [];
    private long _reserved;
    private int _prefetched;

    /// <summary>Memory of one term in bytes, without its key and postings.</summary>
    public static int BytesPerTerm => Unsafe.SizeOf<Term>() + (BucketsPerTerm * sizeof(ulong));

    /// <summary>Number of terms.</summary>
    public int Count { get; private set; }

    private uint Mask => (uint)_buckets.Length - 1;

    /// <summary>Returns a term by number, valid until the next is added.</summary>
    public ref Term this[int number] => ref _terms[number];

    /// <summary>Returns the bytes of a term.</summary>
    public ReadOnlySpan<byte> KeyOf(int number) => arena.SpanAt(_terms[number].KeyAddress)[.._terms[number].KeyLength];

    /// <summary>
    /// Prefetches the memory that looking up the terms will read, for all terms at once. Without this, each look-up
    /// waits for memory up to three times, which took a third of a full-text build.
    /// </summary>
    /// <param name="hashes">The terms' <see cref="HashOf"/>, at most <see cref="MaxPrefetched"/>.</param>
    public void Prefetch(ReadOnlySpan<uint> hashes)
    {
        if (Count == 0)
        {
            return;
        }

        Span<int> room = stackalloc int[MaxPrefetched];
        var numbers = room[..hashes.Length];
        for (int i = 0; i < numbers.Length; i++)
        {
            numbers[i] = (int)(uint)_buckets[hashes[i] & Mask] - 1;
        }

        var addresses = numbers;
        for (int i = 0; i < numbers.Length; i++)
        {
            addresses[i] = numbers[i] >= 0 ? _terms[numbers[i]].KeyAddress : -1;
        }

        int sum = 0;
        foreach (int address in addresses)
        {
            sum += address >= 0 ? arena.SpanAt(address)[0] : 0;
        }

        // The sum is stored so that the compiler does not remove the reads.
        _prefetched = sum;
    }

    /// <summary>
    /// Prefetches terms that are about to be read: themselves, their keys and the beginning of their postings.
    /// </summary>
    /// <param name="numbers">The term numbers, at most <see cref="MaxPrefetched"/>.</param>
    public void PrefetchContents(ReadOnlySpan<int> numbers)
    {
        int sum = 0;
        foreach (int number in numbers)
        {
            sum += arena.SpanAt(_terms[number].KeyAddress)[0];
        }

        foreach (int number in numbers)
        {
            sum += _terms[number].Bytes > 0 ? arena.SpanAt(_terms[number].FirstSlice)[0] : 0;
        }

        _prefetched = sum;
    }

    /// <summary>Returns the number of a term, which is added if it is missing.</summary>
    public int Find(int field, ReadOnlySpan<byte> key) => Find(field, key, HashOf(field, key));

    /// <summary>Returns the number of a term whose <see cref="HashOf"/> is known; adds it if it is missing.</summary>
    public int Find(int field, ReadOnlySpan<byte> key, uint hash)
    {
        if (Count == _terms.Length)
        {
            Grow();
        }

        uint at = hash & Mask;
        for (ulong bucket = _buckets[at]; bucket != 0; bucket = _buckets[at])
        {
            int number = (int)(uint)bucket - 1;
            if (
                (uint)(bucket >> 32) == hash
                && _terms[number].Field == field
                && _terms[number].KeyLength == key.Length
                && KeyOf(number).SequenceEqual(key)
            )
            {
                return number;
            }

            at = (at + 1) & Mask;
        }

        _buckets[at] = BucketOf(hash, Count);
        return AddTerm(
            new Term
            {
                Hash = hash,
                IsLinked = true,
                Field = field,
            },
            key
        );
    }

    /// <summary>
    /// Adds a term that is known to be missing. <see cref="Find(int, ReadOnlySpan{byte})"/> does not find it before
    /// <see cref="LinkAll"/>.
    /// </summary>
    public int AddUnlinked(int field, ReadOnlySpan<byte> key)
    {
        if (Count == _terms.Length)
        {
            Grow();
        }

        return AddTerm(new Term { Field = field }, key);
    }

    /// <summary>Adds all unlinked terms to the hash table.</summary>
    public void LinkAll()
    {
        for (int number = 0; number < Count; number++)
        {
            ref Term term = ref _terms[number];
            if (!term.IsLinked)
            {
                term.Hash = HashOf(term.Field, KeyOf(number));
                term.IsLinked = true;
                Link(BucketOf(term.Hash, number));
            }
        }
    }

    /// <summary>Appends bytes to a term's postings.</summary>
    public void Append(int number, ReadOnlySpan<byte> bytes)
    {
        ref Term term = ref _terms[number];
        term.Bytes += bytes.Length;
        while (!bytes.IsEmpty)
        {
            if (term.SliceLeft == 0)
            {
                AddSlice(ref term);
            }

            int part = Math.Min(term.SliceLeft, bytes.Length);
            bytes[..part].CopyTo(arena.SpanAt(term.WriteAddress));
            term.WriteAddress += part;
            term.SliceLeft -= (ushort)part;
            bytes = bytes[part..];
        }
    }

    /// <summary>Copies a term's postings.</summary>
    public void CopyTo(int number, GrowableBytes sink)
    {
        ref Term term = ref _terms[number];
        int remainingBytes = term.Bytes;
        int address = term.FirstSlice;
        for (int slice = FirstSliceBytes; remainingBytes > 0; slice = Math.Min(2 * slice, MaxSliceBytes))
        {
            var bytes = arena.SpanAt(address);
            int part = Math.Min(remainingBytes, slice - LinkBytes);
            sink.Append(bytes[..part]);
            remainingBytes -= part;
            address = remainingBytes > 0 ? BitConverter.ToInt32(bytes[(slice - LinkBytes)..]) : 0;
        }
    }

    /// <summary>Removes all terms. The caller also clears the arena.</summary>
    public void Clear()
    {
        Count = 0;
        Array.Clear(_buckets);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Clear();
        share.Release(_reserved);
        _reserved = 0;
        _terms = [];
        _buckets = [];
    }

    private void AddSlice(ref Term term)
    {
        int bytes = term.SliceBytes == 0 ? FirstSliceBytes : Math.Min(2 * term.SliceBytes, MaxSliceBytes);
        int address = arena.Allocate(bytes);
        if (term.SliceBytes == 0)
        {
            term.FirstSlice = address;
        }
        else
        {
            BitConverter.TryWriteBytes(arena.SpanAt(term.WriteAddress), address);
        }

        term.SliceBytes = (ushort)bytes;
        term.WriteAddress = address;
        term.SliceLeft = (ushort)(bytes - LinkBytes);
    }

    private void Grow()
    {
        int capacity = Math.Max(FirstCapacity, 2 * _terms.Length);
        long bytes = (long)capacity * BytesPerTerm;
        share.Reserve(bytes - _reserved);
        _reserved = bytes;
        Array.Resize(ref _terms, capacity);
        ulong[] before = _buckets;
        _buckets = new ulong[BucketsPerTerm * capacity];

        // The old buckets contain the hashes. Reading them from the terms would miss the processor's cache for each
        // term.
        foreach (ulong bucket in before)
        {
            if (bucket != 0)
            {
                Link(bucket);
            }
        }
    }

    private int AddTerm(Term term, ReadOnlySpan<byte> key)
    {
        term.KeyAddress = arena.Add(key);
        term.KeyLength = (ushort)key.Length;
        term.LastEntry = -1;
        _terms[Count] = term;
        return Count++;
    }

    private static ulong BucketOf(uint hash, int number) => ((ulong)hash << 32) | (uint)(number + 1);

    private void Link(ulong bucket)
    {
        uint at = (uint)(bucket >> 32) & Mask;
        while (_buckets[at] != 0)
        {
            at = (at + 1) & Mask;
        }

        _buckets[at] = bucket;
    }

    /// <summary>
    /// Returns the hash of a term, computed from products of eight bytes at a time and a random seed.
    /// </summary>
    public static uint HashOf(int field, ReadOnlySpan<byte> key)
    {
        ulong low;
        ulong high;
        ulong hash = Seeds[0] ^ ((ulong)(uint)field << 32) ^ (uint)key.Length;
        while (key.Length > 2 * sizeof(ulong))
        {
            hash = Fold(
                BinaryPrimitives.ReadUInt64LittleEndian(key) ^ Seeds[1],
                BinaryPrimitives.ReadUInt64LittleEndian(key[sizeof(ulong)..]) ^ hash
            );
            key = key[(2 * sizeof(ulong))..];
        }

        if (key.Length >= sizeof(ulong))
        {
            low = BinaryPrimitives.ReadUInt64LittleEndian(key);
            high = BinaryPrimitives.ReadUInt64LittleEndian(key[^sizeof(ulong)..]);
        }
        else if (key.Length >= sizeof(uint))
        {
            low = BinaryPrimitives.ReadUInt32LittleEndian(key);
            high = BinaryPrimitives.ReadUInt32LittleEndian(key[^sizeof(uint)..]);
        }
        else
        {
            low = key.Length > 0 ? key[0] | ((ulong)key[key.Length / 2] << 8) | ((ulong)key[^1] << 16) : 0;
            high = 0;
        }

        ulong all = Fold(Fold(low ^ Seeds[2], high ^ hash), Seeds[3]);
        return (uint)all ^ (uint)(all >> 32);
    }

    private static ulong Fold(ulong a, ulong b)
    {
        ulong high = Math.BigMul(a, b, out ulong low);
        return high ^ low;
    }
}

/// <summary>A term of a batch. Small, because a batch may have a million terms.</summary>
internal struct Term
{
    /// <summary>The hash, once the term is in the hash table.</summary>
    public uint Hash;
    public int Field;

    /// <summary>The address of its bytes in the arena.</summary>
    public int KeyAddress;
    public ushort KeyLength;

    /// <summary>Whether the term is in the hash table.</summary>
    public bool IsLinked;

    /// <summary>
    /// The last entry that has the term; for a document's id, the number of its current version. -1 for none.
    /// </summary>
    public int LastEntry;

    /// <summary>The address of the first slice of its postings.</summary>
    public int FirstSlice;

    /// <summary>The address at which the next byte of its postings is written.</summary>
    public int WriteAddress;

    /// <summary>Length of the last slice in bytes; 0 if there is none.</summary>
    public ushort SliceBytes;

    /// <summary>Free bytes in the last slice, without its link.</summary>
    public ushort SliceLeft;

    /// <summary>Bytes of its postings.</summary>
    public int Bytes;
}
