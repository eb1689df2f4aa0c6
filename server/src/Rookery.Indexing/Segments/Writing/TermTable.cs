using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>
/// The terms of a batch and what belongs to each, by field. The bytes of a term lie in slices that double from 8 bytes to 4 KiB, each with the address of the next at its end, so that
/// a term that stands once is small and one that stands everywhere is not copied.
/// </summary>
internal sealed class TermTable(ByteArena arena, MemoryShare share) : IDisposable
{
    private const int FirstSliceBytes = 8;
    private const int LongestSliceBytes = 4096;
    private const int LinkBytes = sizeof(int);
    private const int FirstCapacity = 1024;

    private int[] buckets = [];
    private Term[] terms = [];
    private long reserved;

    /// <summary>How many there are.</summary>
    public int Count { get; private set; }

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
        ref int bucket = ref buckets[hash & (uint)(buckets.Length - 1)];
        for (int number = bucket - 1; number >= 0; number = terms[number].Next - 1)
        {
            ref Term found = ref terms[number];
            if (found.Hash == hash && found.Field == field && KeyOf(number).SequenceEqual(key))
            {
                return number;
            }
        }

        terms[Count] = new Term { Hash = hash, Field = field, Next = bucket, KeyAddress = arena.Add(key), KeyLength = key.Length, LastEntry = -1 };
        bucket = ++Count;
        return Count - 1;
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
        long bytes = (long)capacity * (System.Runtime.CompilerServices.Unsafe.SizeOf<Term>() + sizeof(int));
        share.Reserve(bytes - reserved);
        reserved = bytes;
        Array.Resize(ref terms, capacity);
        buckets = new int[capacity];
        for (int i = 0; i < Count; i++)
        {
            ref int bucket = ref buckets[terms[i].Hash & (uint)(capacity - 1)];
            terms[i].Next = bucket;
            bucket = i + 1;
        }
    }

    private static uint HashOf(int field, ReadOnlySpan<byte> key)
    {
        var hash = default(HashCode);
        hash.Add(field);
        hash.AddBytes(key);
        return (uint)hash.ToHashCode();
    }
}

/// <summary>A term of a batch.</summary>
internal struct Term
{
    public uint Hash;
    public int Field;

    /// <summary>One more than the number of the next term in the bucket.</summary>
    public int Next;
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
