using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// Random rows of difficult shapes: shared prefixes of every length, keys that are prefixes of others, zeros, empty and
/// large values.
/// </summary>
internal sealed class RandomRows(int seed)
{
    private readonly Random _random = new(seed);
    private long _sequence;

    /// <summary>Returns rows with different keys.</summary>
    public SortedDictionary<byte[], ModelRow> Rows(int count, int valueLimitBytes)
    {
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        while (rows.Count < count)
        {
            rows[Key(rows)] = Row(valueLimitBytes);
        }

        return rows;
    }

    /// <summary>Returns a key of at most 512 bytes, which may be that of an existing row.</summary>
    public byte[] Key(SortedDictionary<byte[], ModelRow> rows)
    {
        switch (_random.Next(6))
        {
            case 0 when rows.Count > 0:
                // Extends an existing key.
                return
                [
                    .. rows.Keys.ElementAt(_random.Next(Math.Min(rows.Count, 20))).Take(510),
                    (byte)_random.Next(3),
                ];
            case 1:
                return [.. Enumerable.Repeat((byte)'x', _random.Next(500)), .. Bytes(_random.Next(1, 12))];
            case 2: // database 1, table 2 and an etag
                return
                [
                    0,
                    0,
                    0,
                    1,
                    2,
                    .. BitConverter.GetBytes(
                        System.Buffers.Binary.BinaryPrimitives.ReverseEndianness((long)_random.Next(100_000))
                    ),
                ];
            case 3:
                return Bytes(_random.Next(0, 4));
            case 4:
                return Bytes(512);
            default: // database 1, table 1 and a document's id
                return [0, 0, 0, 1, 1, .. System.Text.Encoding.ASCII.GetBytes($"users/{_random.Next(100_000):D8}-a")];
        }
    }

    public int Next(int below) => _random.Next(below);

    public byte[] Bytes(int count)
    {
        byte[] bytes = new byte[count];
        _random.NextBytes(bytes);
        return bytes;
    }

    /// <summary>Returns a row with a higher sequence number than those before.</summary>
    public ModelRow Row(int valueLimitBytes)
    {
        _sequence += _random.Next(1, 1000);
        return _random.Next(10) switch
        {
            0 => new ModelRow(_sequence, RowKind.Tombstone, []),
            1 => new ModelRow(_sequence, RowKind.LargeReference, Bytes(20)),
            2 => new ModelRow(_sequence, RowKind.Put, []),
            3 => new ModelRow(_sequence, RowKind.Put, Bytes(_random.Next(valueLimitBytes))),
            _ => new ModelRow(
                _sequence,
                RowKind.Put,
                [.. Enumerable.Repeat((byte)_random.Next(256), _random.Next(Math.Min(valueLimitBytes, 300)))]
            ),
        };
    }
}
