using System.Buffers;
using System.Text;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>
/// The parameters of a query, which its text refers to by <c>$name</c>. Values are JSON without whitespace between
/// tokens.
/// </summary>
public sealed class QueryParameters
{
    private readonly Dictionary<string, byte[]> _values = new(StringComparer.Ordinal);

    // Compare-exchange values by key, so that a query reads each of them once.
    private Dictionary<string, byte[]>? _compareExchange;

    private QueryParameters() { }

    /// <summary>Creates parameters.</summary>
    /// <param name="values">The values by name, each valid JSON. Whitespace is removed.</param>
    public QueryParameters(IEnumerable<KeyValuePair<string, byte[]>> values)
    {
        foreach ((string name, byte[] json) in values)
        {
            byte[] minimised = new byte[json.Length];
            _values[name] = minimised[..JsonText.Minimise(json, minimised)];
        }
    }

    /// <summary>
    /// Returns the JSON of a compare-exchange value by its key in UTF-8; null if there is no such value. If this
    /// delegate is null, no key has a value.
    /// </summary>
    internal Func<byte[], byte[]?>? ReadCompareExchange { get; init; }

    /// <summary>No parameters.</summary>
    public static QueryParameters None { get; } = new([]);

    /// <summary>Reads the object of parameters of a request: <c>{"p0":"ann"}</c>.</summary>
    /// <param name="json">The object.</param>
    /// <param name="readCompareExchange">See <see cref="ReadCompareExchange"/>.</param>
    /// <exception cref="QueryException">The bytes are not a JSON object.</exception>
    public static QueryParameters Read(ReadOnlySpan<byte> json, Func<byte[], byte[]?>? readCompareExchange = null)
    {
        byte[] members = MembersOf(json, "QueryParameters", position: -1);
        var read = new QueryParameters { ReadCompareExchange = readCompareExchange };
        int at = 0;
        while (StoredJson.TryReadMember(members, ref at, out JsonSlice name, out int valueStart))
        {
            read._values[NameOf(members.AsSpan(name.Start, name.Length), name.Escaped)] = members[valueStart..at];
        }

        return read;
    }

    private static string NameOf(ReadOnlySpan<byte> written, bool isEscaped)
    {
        if (!isEscaped)
        {
            return Encoding.UTF8.GetString(written);
        }

        byte[] text = new byte[written.Length];
        return Encoding.UTF8.GetString(text.AsSpan(0, JsonText.Unescape(written, text)));
    }

    /// <summary>Returns all parameters as one JSON object, for scripts.</summary>
    public byte[] ToJson()
    {
        var output = new ArrayBufferWriter<byte>();
        foreach ((string name, byte[] json) in _values)
        {
            output.Write(output.WrittenCount == 0 ? "{"u8 : ","u8);
            JsonText.WriteString(output, Encoding.UTF8.GetBytes(name));
            output.Write(":"u8);
            output.Write(json);
        }

        output.Write(output.WrittenCount == 0 ? "{}"u8 : "}"u8);
        return output.WrittenSpan.ToArray();
    }

    /// <summary>Returns the members of a JSON object, without braces and without whitespace between tokens.</summary>
    /// <param name="json">The object.</param>
    /// <param name="objectName">The name of the object, for errors.</param>
    /// <param name="position">Its position in the query's text; -1 if the text does not contain it.</param>
    /// <exception cref="QueryException">The bytes are not a JSON object.</exception>
    internal static byte[] MembersOf(ReadOnlySpan<byte> json, string objectName, int position)
    {
        using DocumentParser parser = DocumentParser.Rent();
        return parser.TryParse(json, out ParsedDocument document, out InputError error)
            ?
            [
                .. document.BodyHead,
                .. document.BodyHead.IsEmpty || document.BodyTail.IsEmpty ? ""u8 : ","u8,
                .. document.BodyTail,
            ]
            : throw new QueryException(QueryFault.Invalid, $"{objectName} is not a JSON object: {error}.", position);
    }

    /// <summary>Returns the JSON of a compare-exchange value; null in JSON if there is none.</summary>
    internal byte[] FindCompareExchange(byte[] key)
    {
        string name = Encoding.UTF8.GetString(key);
        _compareExchange ??= new Dictionary<string, byte[]>(StringComparer.Ordinal);
        if (!_compareExchange.TryGetValue(name, out byte[]? json))
        {
            _compareExchange[name] = json = ReadCompareExchange?.Invoke(key) ?? "null"u8.ToArray();
        }

        return json;
    }

    /// <summary>Returns the JSON of a parameter.</summary>
    /// <exception cref="QueryException">The parameter does not exist.</exception>
    internal byte[] Find(ParameterOperand operand) =>
        _values.TryGetValue(operand.Name, out byte[]? json)
            ? json
            : throw new QueryException(
                QueryFault.Invalid,
                $"QueryParameters has no '{operand.Name}'.",
                operand.Position
            );
}
