using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Json;

namespace Rookery.Queries.FullText;

/// <summary>
/// Reads the JSON text that is the model of <c>moreLikeThis</c> in a static index. A value belongs to the field of the
/// index that has the name of its member, at any depth, because fields of an index are computed from nested members.
/// </summary>
internal static class ModelText
{
    /// <summary>
    /// Returns the members of an object with the fields of an index, each an array of values. Names are compared
    /// without case, unless a field has exactly the name.
    /// </summary>
    /// <param name="members">The members of the model, without braces.</param>
    /// <param name="fields">The full-text fields of the index.</param>
    public static byte[] FieldsOf(ReadOnlySpan<byte> members, IReadOnlyList<string> fields)
    {
        byte[] json = [(byte)'{', .. members, (byte)'}'];
        var values = fields.Select(static _ => new List<Range>()).ToList();
        int field = -1;
        var outer = new Stack<int>();
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = JsonLimits.MaxDepth + 1 });
        while (reader.Read())
        {
            switch (reader.TokenType)
            {
                case JsonTokenType.PropertyName:
                    field = Find(reader.GetString()!, fields);
                    break;
                case JsonTokenType.StartObject or JsonTokenType.StartArray:
                    outer.Push(field);
                    break;
                case JsonTokenType.EndObject or JsonTokenType.EndArray:
                    field = outer.Pop();
                    break;
                default:
                    if (field >= 0)
                    {
                        values[field].Add((int)reader.TokenStartIndex..(int)reader.BytesConsumed);
                    }

                    break;
            }
        }

        var output = new ArrayBufferWriter<byte>();
        for (int i = 0; i < fields.Count; i++)
        {
            output.Write(i == 0 ? ""u8 : ","u8);
            JsonText.WriteString(output, Encoding.UTF8.GetBytes(fields[i]));
            output.Write(":["u8);
            for (int value = 0; value < values[i].Count; value++)
            {
                output.Write(value == 0 ? ""u8 : ","u8);
                output.Write(json.AsSpan(values[i][value]));
            }

            output.Write("]"u8);
        }

        return output.WrittenSpan.ToArray();
    }

    private static int Find(string name, IReadOnlyList<string> fields)
    {
        int similar = -1;
        for (int i = 0; i < fields.Count; i++)
        {
            if (string.Equals(fields[i], name, StringComparison.Ordinal))
            {
                return i;
            }

            if (similar < 0 && string.Equals(fields[i], name, StringComparison.OrdinalIgnoreCase))
            {
                similar = i;
            }
        }

        return similar;
    }
}
