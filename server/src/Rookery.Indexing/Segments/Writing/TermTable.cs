using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// The terms of a batch and what belongs to each, by field. The bytes of a term lie in slices that double from 8 bytes to 4 KiB, each with the address of the next at its end, so that
/// a term that stands once is small and one that stands everywhere is not copied. What is looked for is compared with hashes that lie in the buckets themselves, so that a term that is not there is not found with one look.
/// </summary>
internal sealed class TermTable(ByteArena arena, MemoryShare share) : IDisposable
{
    private const int FirstSliceBytes = 8;
    private const int LongestSliceBytes = 4096;
    private const int LinkBytes = sizeof(int);
    private const int FirstCapacity = 1024;
    private const int BucketsPerTerm = 2;

    // Terms made to fall into one bucket are made for one process.
    private static readonly ulong[] Seeds = [.. System.Runtime.InteropServices.MemoryMarshal.Cast<byte, ulong>(RandomNumberGenerator.GetBytes(4 * sizeof(ulong)))];

    // The hash, and one more than the number; 0 is free. A term that is not here lies in the next free one.
    private ulong[] buckets = [];
    private Term[] terms = [];
    private long reserved;

    /// <summary>Bytes of memory for one term, beside its own.</summary>
    public static int BytesPerTerm => Unsafe.SizeOf<Term>() + (BucketsPerTerm * sizeof(ulong));

    /// <summary>How many there are.</summary>
    public int Count { get; private set; }

    private uint Mask => (uint)buckets.Length - 1;

    /// <summary>A term; valid until the next is added.</summary>
    public ref Term this[int number] => ref terms[number];

    /// <summary>The bytes of a term.</summary>
    public ReadOnlySpan<byte> KeyOf(int number) => arena.At(terms[number].KeyAddress)[..terms[number].KeyLength];

    /// <summary>The number of a term, which is added when it is not there.</summary>
    public int Find(int field, ReadOnlySpan<byte> key)
    {
        if (Count == terms.Length)
        {
            Grow();
        }

        uint hash = HashOf(field, key);
        uint at = hash & Mask;
        for (ulong bucket = buckets[at]; bucket != 0; bucket = buckets[at])
        {
            int number = (int)(uint)bucket - 1;
            if ((uint)(bucket >> 32) == hash && terms[number].Field == field && terms[number].KeyLength == key.Length && KeyOf(number).SequenceEqual(key))
            {
                return number;
            }

            at = (at + 1) & Mask;
        }

        buckets[at] = ((ulong)hash << 32) | (uint)(Count + 1);
        return Take(new Term { Hash = hash, IsLinked = true, Field = field }, key);
    }

    /// <summary>Adds a term that is not there; <see cref="Find"/> does not see it before <see cref="LinkAll"/>.</summary>
    public int AddUnlinked(int field, ReadOnlySpan<byte> key)
    {
        if (Count == terms.Length)
        {
            Grow();
        }

        return Take(new Term { Field = field }, key);
    }

    /// <summary>Has all terms found.</summary>
    public void LinkAll()
    {
        for (int number = 0; number < Count; number++)
        {
            ref Term term = ref terms[number];
            if (!term.IsLinked)
            {
                term.Hash = HashOf(term.Field, KeyOf(number));
                term.IsLinked = true;
                Link(number);
            }
        }
    }

    /// <summary>Appends bytes to those of a term.</summary>
    public void Append(int number, ReadOnlySpan<byte> bytes)
    {
        ref Term term = ref terms[number];
        term.Bytes += bytes.Length;
        while (!bytes.IsEmpty)
        {
            if (term.SliceLeft == 0)
            {
                AddSlice(ref term);
            }

            int part = Math.Min(term.SliceLeft, bytes.Length);
            bytes[..part].CopyTo(arena.At(term.WriteAddress));
            term.WriteAddress += part;
            term.SliceLeft -= part;
            bytes = bytes[part..];
        }
    }

    /// <summary>Copies the bytes of a term together.</summary>
    public void CopyTo(int number, ByteSink sink)
    {
        ref Term term = ref terms[number];
        int left = term.Bytes;
        int address = term.FirstSlice;
        for (int slice = FirstSliceBytes; left > 0; slice = Math.Min(2 * slice, LongestSliceBytes))
        {
            var bytes = arena.At(address);
            int part = Math.Min(left, slice - LinkBytes);
            sink.Write(bytes[..part]);
            left -= part;
            address = left > 0 ? BitConverter.ToInt32(bytes[(slice - LinkBytes)..]) : 0;
        }
    }

    /// <summary>Forgets all terms; to be called with that of the arena.</summary>
    public void Clear()
    {
        Count = 0;
        Array.Clear(buckets);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Clear();
        share.Release(reserved);
        reserved = 0;
        terms = [];
        buckets = [];
    }

    private void AddSlice(ref Term term)
    {
        int bytes = term.SliceBytes == 0 ? FirstSliceBytes : Math.Min(2 * term.SliceBytes, LongestSliceBytes);
        int address = arena.Take(bytes);
        if (term.SliceBytes == 0)
        {
            term.FirstSlice = address;
        }
        else
        {
            BitConverter.TryWriteBytes(arena.At(term.WriteAddress), address);
        }

        term.SliceBytes = bytes;
        term.WriteAddress = address;
        term.SliceLeft = bytes - LinkBytes;
    }

    private void Grow()
    {
        int capacity = Math.Max(FirstCapacity, 2 * terms.Length);
        long bytes = (long)capacity * BytesPerTerm;
        share.Reserve(bytes - reserved);
        reserved = bytes;
        Array.Resize(ref terms, capacity);
        buckets = new ulong[BucketsPerTerm * capacity];
        for (int number = 0; number < Count; number++)
        {
            if (terms[number].IsLinked)
            {
                Link(number);
            }
        }
    }

    private int Take(Term term, ReadOnlySpan<byte> key)
    {
        term.KeyAddress = arena.Add(key);
        term.KeyLength = key.Length;
        term.LastEntry = -1;
        terms[Count] = term;
        return Count++;
    }

    private void Link(int number)
    {
        uint at = terms[number].Hash & Mask;
        while (buckets[at] != 0)
        {
            at = (at + 1) & Mask;
        }

        buckets[at] = ((ulong)terms[number].Hash << 32) | (uint)(number + 1);
    }

    // Folded products of eight bytes and a secret: .
    private static uint HashOf(int field, ReadOnlySpan<byte> key)
    {
        ulong low;
        ulong high;
        ulong hash = Seeds[0] ^ ((ulong)(uint)field << 32) ^ (uint)key.Length;
        while (key.Length > 2 * sizeof(ulong))
        {
            hash = Fold(BinaryPrimitives.ReadUInt64LittleEndian(key) ^ Seeds[1], BinaryPrimitives.ReadUInt64LittleEndian(key[sizeof(ulong)..]) ^ hash);
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

/// <summary>A term of a batch.</summary>
internal struct Term
{
    public uint Hash;
    public bool IsLinked;
    public int Field;
    public int KeyAddress;
    public int KeyLength;

    /// <summary>The last entry in which it stands; of a document's id, the number of its version that counts.</summary>
    public int LastEntry;
    public int FirstSlice;
    public int SliceBytes;
    public int WriteAddress;
    public int SliceLeft;
    public int Bytes;
}
