using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;

namespace Rookery.Json;

/// <summary>
/// Detects duplicate keys in the objects that are open during a parse. The keys are on a stack, so those of one object
/// are adjacent. The hashes of a small object are searched linearly with vector instructions. A large object gets a
/// hash table.
/// </summary>
/// <remarks>
/// Each process has a random hash seed, so an attacker cannot construct documents whose keys collide.
/// </remarks>
public sealed class ObjectKeys
{
    /// <summary>Up to this number of keys, a linear search over the hashes is faster than a table.</summary>
    private const int LinearKeys = 32;

    /// <summary>Maximum keys for which arrays stay allocated between parses. Larger arrays are released.</summary>
    private const int IdleKeys = 4096;

    // The lowest bit is set, so that no seed is 0.
    private static readonly ulong SeedA =
        BinaryPrimitives.ReadUInt64LittleEndian(RandomNumberGenerator.GetBytes(8)) | 1;
    private static readonly ulong SeedB =
        BinaryPrimitives.ReadUInt64LittleEndian(RandomNumberGenerator.GetBytes(8)) | 1;

    private uint[] _hashes = new uint[64];
    private JsonSlice[] _keys = new JsonSlice[64];

    // One frame for each open object: the start of its keys in _keys, and whether they are in the hash table.
    private int[] _frames = new int[16];
    private bool[] _frameHasTable = new bool[16];
    private int _keyCount;
    private int _frameCount;

    /// <summary>
    /// Hash table with open addressing for the keys of large objects: index + 1, or 0 for an empty slot. Entries are
    /// removed in the reverse order of insertion, so linear probing needs no tombstones.
    /// </summary>
    private int[] _table = [];
    private int _tableCount;
    private byte[] _unescaped = new byte[64];

    /// <summary>Whether an object may have a key twice, as for <c>JSON.parse</c> of JavaScript.</summary>
    public bool AcceptsDuplicates { get; init; }

    /// <summary>Whether a duplicate key was accepted since <see cref="Reset"/>.</summary>
    public bool HasDuplicates { get; private set; }

    /// <summary>Number of keys in the innermost object.</summary>
    public int FrameLength => _keyCount - _frames[_frameCount - 1];

    /// <summary>Returns the text of a key with its escapes resolved. Valid until the next call.</summary>
    public ReadOnlySpan<byte> Resolve(ReadOnlySpan<byte> json, JsonSlice key)
    {
        ReadOnlySpan<byte> raw = json.Slice(key.Start, key.Length);
        if (!key.Escaped)
        {
            return raw;
        }

        if (_unescaped.Length < raw.Length)
        {
            _unescaped = new byte[Math.Max(raw.Length, _unescaped.Length * 2)];
        }

        return _unescaped.AsSpan(0, JsonText.Unescape(raw, _unescaped));
    }

    /// <summary>Removes all keys and closes all objects.</summary>
    public void Reset()
    {
        if (_tableCount > 0)
        {
            Array.Clear(_table);
            _tableCount = 0;
        }

        if (_hashes.Length > IdleKeys)
        {
            _hashes = new uint[64];
            _keys = new JsonSlice[64];
            _table = [];
        }

        if (_unescaped.Length > IdleKeys)
        {
            _unescaped = new byte[64];
        }

        _keyCount = 0;
        _frameCount = 0;
        HasDuplicates = false;
    }

    /// <summary>Opens an object inside the current one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Open()
    {
        if (_frameCount == _frames.Length)
        {
            Array.Resize(ref _frames, _frameCount * 2);
            Array.Resize(ref _frameHasTable, _frameCount * 2);
        }

        _frames[_frameCount] = _keyCount;
        _frameHasTable[_frameCount] = false;
        _frameCount++;
    }

    /// <summary>Closes the innermost object.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Close()
    {
        _frameCount--;
        int start = _frames[_frameCount];
        if (_frameHasTable[_frameCount])
        {
            RemoveFromTable(start);
        }

        _keyCount = start;
    }

    /// <summary>Adds a key to the innermost object.</summary>
    /// <returns>False if the object already has the key and duplicates are not accepted.</returns>
    public bool TryAdd(ReadOnlySpan<byte> json, JsonSlice key)
    {
        uint hash = Hash(Resolve(json, key));
        int start = _frames[_frameCount - 1];
        if (Find(json, hash, json, key, start) >= 0)
        {
            HasDuplicates |= AcceptsDuplicates;
            return AcceptsDuplicates;
        }

        if (_keyCount == _keys.Length)
        {
            Array.Resize(ref _hashes, _keyCount * 2);
            Array.Resize(ref _keys, _keyCount * 2);
        }

        _hashes[_keyCount] = hash;
        _keys[_keyCount++] = key;
        if (_frameHasTable[_frameCount - 1])
        {
            AddToTable(_keyCount - 1);
        }
        else if (_keyCount - start > LinearKeys)
        {
            _frameHasTable[_frameCount - 1] = true;
            for (int index = start; index < _keyCount; index++)
            {
                AddToTable(index);
            }
        }

        return true;
    }

    /// <summary>Finds a key, taken from another text, in the innermost object.</summary>
    /// <param name="json">The text of the object's keys.</param>
    /// <param name="otherJson">The text of <paramref name="key"/>.</param>
    /// <param name="key">The key to find.</param>
    /// <returns>The position of the key in the object, or -1.</returns>
    public int Find(ReadOnlySpan<byte> json, ReadOnlySpan<byte> otherJson, JsonSlice key)
    {
        int start = _frames[_frameCount - 1];
        int index = Find(json, Hash(Resolve(otherJson, key)), otherJson, key, start);
        return index < 0 ? -1 : index - start;
    }

    private int Find(ReadOnlySpan<byte> json, uint hash, ReadOnlySpan<byte> otherJson, JsonSlice key, int start)
    {
        if (_frameHasTable[_frameCount - 1])
        {
            int mask = _table.Length - 1;
            for (int slot = (int)hash & mask; _table[slot] != 0; slot = (slot + 1) & mask)
            {
                int index = _table[slot] - 1;
                if (index >= start && _hashes[index] == hash && AreEqual(json, _keys[index], otherJson, key))
                {
                    return index;
                }
            }

            return -1;
        }

        ReadOnlySpan<uint> own = _hashes.AsSpan(start, _keyCount - start);
        int at = own.IndexOf(hash);
        while (at >= 0)
        {
            if (AreEqual(json, _keys[start + at], otherJson, key))
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
        if ((_tableCount + 1) * 2 > _table.Length)
        {
            GrowTable(index);
        }

        Insert(index);
    }

    private void Insert(int index)
    {
        int mask = _table.Length - 1;
        int slot = (int)_hashes[index] & mask;
        while (_table[slot] != 0)
        {
            slot = (slot + 1) & mask;
        }

        _table[slot] = index + 1;
        _tableCount++;
    }

    /// <summary>
    /// Doubles the table and inserts the keys before <paramref name="end"/> again, in their original order.
    /// </summary>
    private void GrowTable(int end)
    {
        _table = new int[Math.Max(256, _table.Length * 2)];
        int entries = _tableCount;
        _tableCount = 0;
        for (int frame = 0; frame < _frameCount && _tableCount < entries; frame++)
        {
            if (!_frameHasTable[frame])
            {
                continue;
            }

            int frameEnd = frame + 1 < _frameCount ? _frames[frame + 1] : end;
            for (int index = _frames[frame]; index < frameEnd && _tableCount < entries; index++)
            {
                Insert(index);
            }
        }
    }

    private void RemoveFromTable(int start)
    {
        int mask = _table.Length - 1;
        for (int index = _keyCount - 1; index >= start; index--)
        {
            int slot = (int)_hashes[index] & mask;
            while (_table[slot] != index + 1)
            {
                slot = (slot + 1) & mask;
            }

            _table[slot] = 0;
            _tableCount--;
        }
    }

    // Multiply-and-fold like wyhash (Wang Yi, public domain), with random seeds.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Hash(ReadOnlySpan<byte> key)
    {
        ulong a;
        ulong b;
        ulong seed = SeedA;
        int length = key.Length;
        if (length >= 8)
        {
            int at = 0;
            while (length - at > 16)
            {
                seed = Mix(
                    seed ^ BinaryPrimitives.ReadUInt64LittleEndian(key[at..]),
                    SeedB ^ BinaryPrimitives.ReadUInt64LittleEndian(key[(at + 8)..])
                );
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
