using System.Buffers;
using System.Buffers.Text;
using System.Text;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// Writes the members of a group's row: <c>k0</c>, <c>k1</c>… for its keys, <c>a0</c>… for its aggregates, and
/// <c>key</c> for all keys as one value.
/// </summary>
public static class GroupRow
{
    private const int MaxDigits = 10;

    /// <summary>Appends the name of a member, after a comma unless it is the first.</summary>
    /// <param name="kind"><c>k</c> or <c>a</c>.</param>
    /// <param name="number">The number of the key or aggregate.</param>
    /// <param name="row">Receives the name.</param>
    public static void AppendName(byte kind, int number, PooledBytes row)
    {
        row.Append(row.Length == 0 || row.Written[^1] == (byte)'{' ? "\""u8 : ",\""u8);
        row.Append(kind);
        Utf8Formatter.TryFormat(number, row.Reserve(MaxDigits), out int written);
        row.Advance(written);
        row.Append("\":"u8);
    }

    /// <summary>Appends the member <c>key</c>.</summary>
    /// <param name="keys">The members of the keys, not stored in <paramref name="row"/>.</param>
    /// <param name="names">The names of the keys. A single key is written as its value alone.</param>
    /// <param name="row">Receives the member.</param>
    public static void AppendWholeKey(ReadOnlySpan<byte> keys, string[] names, PooledBytes row)
    {
        row.Append(",\"key\":"u8);
        int at = 0;
        for (int key = 0; StoredJson.TryReadMember(keys, ref at, out _, out int valueStart); key++)
        {
            if (names.Length > 1)
            {
                var name = new ArrayBufferWriter<byte>();
                JsonText.WriteString(name, Encoding.UTF8.GetBytes(names[key]));
                row.Append(key == 0 ? (byte)'{' : (byte)',');
                row.Append(name.WrittenSpan);
                row.Append((byte)':');
            }

            row.Append(keys[valueStart..at]);
        }

        if (names.Length > 1)
        {
            row.Append((byte)'}');
        }
    }
}
