using System.Text.Json;

namespace Rookery.Server.Raven.Queries;

/// <summary>The body of a query: its text, its parameters, its page.</summary>
internal sealed class QueryRequest
{
    public required IdQuery Query { get; init; }

    /// <summary>Reads {"Query","QueryParameters","Start","PageSize",…}. Waiting for an index needs no wait here, so those fields pass.</summary>
    /// <exception cref="RefusedException">It is no query, or one that this version does not have.</exception>
    public static QueryRequest Read(ReadOnlySpan<byte> body)
    {
        try
        {
            return ReadBody(body);
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException)
        {
            // Parameters are read again by the query's text; half a surrogate pair in one is found only then.
            throw JsonBody.Malformed("The body of the query", malformed);
        }
    }

    private static QueryRequest ReadBody(ReadOnlySpan<byte> body)
    {
        string? text = null;
        long start = 0;
        long pageSize = long.MaxValue;
        var parameters = new QueryParameterValues();
        var json = NewReader(body);
        if (!json.Read() || json.TokenType != JsonTokenType.StartObject)
        {
            throw RefusedException.BadRequest("The body of a query must be an object: {\"Query\":\"from Users\"}.");
        }

        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string member = json.GetString()!;
            json.Read();
            switch (member)
            {
                case "Query":
                    text = JsonBody.ReadText(ref json, member);
                    break;
                case "Start":
                    start = ReadNumber(ref json, member);
                    break;
                case "PageSize":
                    pageSize = ReadNumber(ref json, member);
                    break;
                case "QueryParameters" when json.TokenType == JsonTokenType.StartObject:
                    ReadParameters(ref json, body, parameters);
                    break;
                default:
                    json.Skip();
                    break;
            }
        }

        json.Read(); // refuses what follows the object
        if (string.IsNullOrWhiteSpace(text))
        {
            throw RefusedException.InvalidQuery("The member 'Query' is missing or empty.");
        }

        var query = RqlRecognizer.Read(text, parameters);
        return new QueryRequest
        {
            Query = query with
            {
                Offset = query.Offset > long.MaxValue - start ? long.MaxValue : query.Offset + start,
                Limit = Math.Min(query.Limit ?? long.MaxValue, pageSize),
            },
        };
    }

    private static Utf8JsonReader NewReader(ReadOnlySpan<byte> body) => new(body, new JsonReaderOptions { MaxDepth = 128 });

    private static void ReadParameters(ref Utf8JsonReader json, ReadOnlySpan<byte> body, QueryParameterValues parameters)
    {
        while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            string name = json.GetString()!;
            json.Read();
            parameters.Set(name, JsonBody.Raw(ref json, body));
        }
    }

    private static long ReadNumber(ref Utf8JsonReader json, string member) =>
        json.TokenType == JsonTokenType.Number && json.TryGetInt64(out long number) && number >= 0
            ? number
            : throw RefusedException.BadRequest($"'{member}' must be a whole number from 0.");
}
