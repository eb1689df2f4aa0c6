using System.Buffers;
using System.Text;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Indexing.Mapping;

/// <summary>
/// Adds null to rows for each field that they lack, if the setting <c>Indexing.IndexMissingFieldsAsNull</c> of the
/// index is true. Not thread-safe.
/// </summary>
/// <param name="settings">The settings of the index.</param>
/// <param name="fields">The names of the fields of the index.</param>
public sealed class MissingFields(IReadOnlyDictionary<string, string> settings, IEnumerable<string> fields)
{
    /// <summary>The name of the setting.</summary>
    public const string Setting = "Indexing.IndexMissingFieldsAsNull";

    private readonly (byte[] Name, byte[] Member)[] _fields =
        settings.TryGetValue(Setting, out string? value) && value is "true" ? [.. fields.Select(MemberOf)] : [];

    private readonly GrowableBytes _row = new();

    /// <summary>Returns a row with all fields.</summary>
    /// <param name="row">A JSON object without whitespace between tokens.</param>
    /// <returns>The row itself if it lacks no field or the setting is not true; otherwise a copy, valid until the next
    /// call.</returns>
    public ReadOnlySpan<byte> Complete(ReadOnlySpan<byte> row)
    {
        bool isCopied = false;
        foreach (var (name, member) in _fields)
        {
            if (StoredJson.TryFindMember(row, container: 0, name, out _, out _))
            {
                continue;
            }

            if (!isCopied)
            {
                isCopied = true;
                _row.Clear();
                _row.Append(row[..^1]);
            }

            if (_row.Length > 1)
            {
                _row.Append((byte)',');
            }

            _row.Append(member);
        }

        if (!isCopied)
        {
            return row;
        }

        _row.Append((byte)'}');
        return _row.Written;
    }

    private static (byte[] Name, byte[] Member) MemberOf(string field)
    {
        byte[] name = Encoding.UTF8.GetBytes(field);
        var member = new ArrayBufferWriter<byte>();
        JsonText.WriteString(member, name);
        member.Write(":null"u8);
        return (name, member.WrittenSpan.ToArray());
    }
}
