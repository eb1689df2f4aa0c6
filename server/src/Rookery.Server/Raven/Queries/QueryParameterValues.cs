using System.Text.Json;

namespace Rookery.Server.Raven.Queries;

/// <summary>The values that a query's text refers to by <c>$name</c>, still as JSON.</summary>
internal sealed class QueryParameterValues
{
    private readonly Dictionary<string, byte[]> _values = new(StringComparer.Ordinal);

    /// <summary>Remembers a value, as JSON.</summary>
    public void Set(string name, ReadOnlySpan<byte> json) => _values[name] = json.ToArray();

    /// <summary>The texts of a parameter that holds a text or a list of texts.</summary>
    /// <exception cref="RefusedException">It is missing or holds something else.</exception>
    public IReadOnlyList<string> Texts(in RqlToken parameter)
    {
        var json = Reader(parameter);
        switch (json.TokenType)
        {
            case JsonTokenType.String:
                return [json.GetString()!];
            case JsonTokenType.StartArray:
                return ReadTexts(ref json, parameter);
            default:
                throw WrongType(parameter, "a text or a list of texts");
        }
    }

    /// <summary>The number of a parameter, at least 0, or null when it holds null.</summary>
    /// <exception cref="RefusedException">It is missing or holds something else.</exception>
    public long? Number(in RqlToken parameter)
    {
        var json = Reader(parameter);
        return json.TokenType switch
        {
            JsonTokenType.Null => null,
            JsonTokenType.Number when json.TryGetInt64(out long number) && number >= 0 => number,
            _ => throw WrongType(parameter, "a whole number from 0"),
        };
    }

    private static List<string> ReadTexts(ref Utf8JsonReader json, in RqlToken parameter)
    {
        var texts = new List<string>();
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            if (json.TokenType == JsonTokenType.Null)
            {
                continue; // no id is null
            }

            texts.Add(json.TokenType == JsonTokenType.String ? json.GetString()! : throw WrongType(parameter, "a list of texts"));
        }

        return texts;
    }

    private Utf8JsonReader Reader(in RqlToken parameter)
    {
        if (!_values.TryGetValue(parameter.Text, out byte[]? json))
        {
            throw RefusedException.InvalidQuery(
                $"The query refers to ${parameter.Text} at position {parameter.Position}, but QueryParameters has no '{parameter.Text}'.");
        }

        var reader = new Utf8JsonReader(json);
        reader.Read();
        return reader;
    }

    private static RefusedException WrongType(in RqlToken parameter, string wanted) =>
        RefusedException.InvalidQuery($"${parameter.Text}, used at position {parameter.Position} of the query, must be {wanted}.");
}
