using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;

namespace Rookery.Documents.Json;

/// <summary>
/// The keys of all objects open at one point of a parse, to find a key that one object names twice. Keys lie on a stack, so those of
/// one object are neighbours; the hashes of a small object are searched with vector instructions, a large one gets a hash table.
/// </summary>
/// <remarks>Hashing is seeded per process: a document made to collide is made for one process.</remarks>
internal sealed class ObjectKeys
{
    /// <summary>Up to here a linear search over the hashes is cheaper than a table.</summary>
    private const int LinearKeys = 32;

    /// <summary>Keys kept allocated between parses; what a larger document needed is dropped.</summary>
    private const int IdleKeys = 4096;

    private static readonly ulong SeedA = BinaryPrimitives.ReadUInt64LittleEndian(RandomNumberGenerator.GetBytes(8)) | 1;
    private static readonly ulong SeedB = BinaryPrimitives.ReadUInt64LittleEndian(RandomNumberGenerator.GetBytes(8)) | 1;

    private uint[] hashes = new uint[64];
    private JsonSlice[] keys = new JsonSlice[64];
    private int[] frames = new int[16];
    private bool[] frameHasTable = new bool[16];
    private int keyCount;
    private int frameCount;

    /// <summary>Open addressing over the keys of large objects: index + 1, 0 = empty. Entries leave in the reverse order of their coming, which linear probing allows without marks.</summary>
    private int[] table = [];
    private int tableCount;
    private byte[] unescaped = new byte[64];

    /// <summary>Index of the first key of the innermost object.</summary>
    public int FrameStart => frames[frameCount - 1];

    /// <summary>Keys of the innermost object.</summary>
    public int FrameLength => keyCount - frames[frameCount - 1];

    /// <summary>The text of a key: escapes resolved. Valid until the next call.</summary>
    public ReadOnlySpan<byte> Resolve(ReadOnlySpan<byte> json, JsonSlice key)
    {
        ReadOnlySpan<byte> raw = json.Slice(key.Start, key.Length);
        if (!key.Escaped)
        {
            return raw;
        }

        if (unescaped.Length < raw.Length)
        {
            unescaped = new byte[Math.Max(raw.Length, unescaped.Length * 2)];
        }

        return unescaped.AsSpan(0, JsonText.Unescape(raw, unescaped));
    }

    /// <summary>Forgets everything.</summary>
    public void Reset()
    {
        if (tableCount > 0)
        {
            Array.Clear(table);
            tableCount = 0;
        }

        if (hashes.Length > IdleKeys)
        {
            hashes = new uint[64];
            keys = new JsonSlice[64];
            table = [];
        }

        if (unescaped.Length > IdleKeys)
        {
            unescaped = new byte[64];
        }

        keyCount = 0;
        frameCount = 0;
    }

    /// <summary>An object begins.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Open()
    {
        if (frameCount == frames.Length)
        {
            Array.Resize(ref frames, frameCount * 2);
            Array.Resize(ref frameHasTable, frameCount * 2);
        }

        frames[frameCount] = keyCount;
        frameHasTable[frameCount++] = false;
    }

    /// <summary>The innermost object ends.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Close()
    {
        int start = frames[--frameCount];
        if (frameHasTable[frameCount])
        {
            RemoveFromTable(start);
        }

        keyCount = start;
    }

    /// <summary>Adds a key to the innermost object.</summary>
    /// <returns>False when the object has it already.</returns>
    public bool TryAdd(ReadOnlySpan<byte> json, JsonSlice key)
    {
        uint hash = Hash(Resolve(json, key));
        int start = frames[frameCount - 1];
        if (Find(json, hash, json, key, start) >= 0)
        {
            return false;
        }

        if (keyCount == keys.Length)
        {
            Array.Resize(ref hashes, keyCount * 2);
            Array.Resize(ref keys, keyCount * 2);
        }

        hashes[keyCount] = hash;
        keys[keyCount++] = key;
        if (frameHasTable[frameCount - 1])
        {
            AddToTable(keyCount - 1);
        }
        else if (keyCount - start > LinearKeys)
        {
            frameHasTable[frameCount - 1] = true;
            for (int index = start; index < keyCount; index++)
            {
                AddToTable(index);
            }
        }

        return true;
    }

    /// <summary>Finds a key of other text in the innermost object.</summary>
    /// <param name="json">The text of the object's keys.</param>
    /// <param name="otherJson">The text of <paramref name="key"/>.</param>
    /// <param name="key">What is looked for.</param>
    /// <returns>The key's number in the object, or -1.</returns>
    public int Find(ReadOnlySpan<byte> json, ReadOnlySpan<byte> otherJson, JsonSlice key)
    {
        int start = frames[frameCount - 1];
        int found = Find(json, Hash(Resolve(otherJson, key)), otherJson, key, start);
        return found < 0 ? -1 : found - start;
    }

    private int Find(ReadOnlySpan<byte> json, uint hash, ReadOnlySpan<byte> otherJson, JsonSlice key, int start)
    {
        if (frameHasTable[frameCount - 1])
        {
            int mask = table.Length - 1;
            for (int slot = (int)hash & mask; table[slot] != 0; slot = (slot + 1) & mask)
            {
                int index = table[slot] - 1;
                if (index >= start && hashes[index] == hash && AreEqual(json, keys[index], otherJson, key))
                {
                    return index;
                }
            }

            return -1;
        }

        ReadOnlySpan<uint> own = hashes.AsSpan(start, keyCount - start);
        int at = own.IndexOf(hash);
        while (at >= 0)
        {
            if (AreEqual(json, keys[start + at], otherJson, key))
            {
                return start + at;
            }

            int next = own[(at + 1)..].IndexOf(hash);
            at = next < 0 ? -1 : at + 1 + next;
        }

        return -1;
    }

    private static bool AreEqual(ReadOnlySpan<byte> json, JsonSlice one, ReadOnlySpan<byte> otherJson, JsonSlice other)
    {
        ReadOnlySpan<byte> a = json.Slice(one.Start, one.Length);
        ReadOnlySpan<byte> b = otherJson.Slice(other.Start, other.Length);
        return one.Escaped || other.Escaped ? JsonText.AreEqual(a, b) : a.SequenceEqual(b);
    }

    private void AddToTable(int index)
    {
        if ((tableCount + 1) * 2 > table.Length)
        {
            GrowTable(index);
        }

        Insert(index);
    }

    private void Insert(int index)
    {
        int mask = table.Length - 1;
        int slot = (int)hashes[index] & mask;
        while (table[slot] != 0)
        {
            slot = (slot + 1) & mask;
        }

        table[slot] = index + 1;
        tableCount++;
    }

    /// <summary>Doubles the table and puts the keys before <paramref name="end"/> back in the order they came.</summary>
    private void GrowTable(int end)
    {
        table = new int[Math.Max(256, table.Length * 2)];
        int entries = tableCount;
        tableCount = 0;
        for (int frame = 0; frame < frameCount && tableCount < entries; frame++)
        {
            int frameEnd = frame + 1 < frameCount ? frames[frame + 1] : end;
            for (int index = frames[frame]; frameHasTable[frame] && index < frameEnd && tableCount < entries; index++)
            {
                Insert(index);
            }
        }
    }

    private void RemoveFromTable(int start)
    {
        int mask = table.Length - 1;
        for (int index = keyCount - 1; index >= start; index--)
        {
            int slot = (int)hashes[index] & mask;
            while (table[slot] != index + 1)
            {
                slot = (slot + 1) & mask;
            }

            table[slot] = 0;
            tableCount--;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Hash(ReadOnlySpan<byte> key)
    {
        ulong a, b;
        ulong seed = SeedA;
        int length = key.Length;
        if (length >= 8)
        {
            int at = 0;
            while (length - at > 16)
            {
                seed = Mix(seed ^ BinaryPrimitives.ReadUInt64LittleEndian(key[at..]), SeedB ^ BinaryPrimitives.ReadUInt64LittleEndian(key[(at + 8)..]));
                at += 16;
            }

            a = BinaryPrimitives.ReadUInt64LittleEndian(key[Math.Max(0, length - 16)..]);
            b = BinaryPrimitives.ReadUInt64LittleEndian(key[(length - 8)..]);
        }
        else if (length >= 4)
        {
            a = BinaryPrimitives.ReadUInt32LittleEndian(key);
            b = BinaryPrimitives.ReadUInt32LittleEndian(key[(length - 4)..]);
        }
        else
        {
            a = length == 0 ? 0 : ((ulong)key[0] << 16) | ((ulong)key[length >> 1] << 8) | key[length - 1];
            b = 0;
        }

        return (uint)Mix(seed ^ a ^ (ulong)length, SeedB ^ b);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Mix(ulong a, ulong b)
    {
        ulong high = Math.BigMul(a, b, out ulong low);
        return high ^ low;
    }
}
