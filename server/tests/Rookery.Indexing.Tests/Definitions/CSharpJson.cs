using System.Collections;
using System.Globalization;
using System.Text.Json;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Writes values of compiled C# as an index writes them.</summary>
internal static class CSharpJson
{
    /// <summary>Returns a value as JSON; a double has a point or an exponent.</summary>
    public static string Of(object? value) =>
        value switch
        {
            null => "null",
            string text => JsonSerializer.Serialize(text, Options),
            char character => Of(character.ToString()),
            bool truth => truth ? "true" : "false",
            double number => WithPoint(number.ToString(CultureInfo.InvariantCulture)),
            float number => WithPoint(number.ToString(CultureInfo.InvariantCulture)),
            DateTime date => Of(
                date.ToString(
                    date.Kind == DateTimeKind.Utc ? "yyyy-MM-ddTHH:mm:ss.fffffffZ" : "yyyy-MM-ddTHH:mm:ss.fffffff",
                    CultureInfo.InvariantCulture
                )
            ),
            DateTimeOffset date => Of(date.ToString("yyyy-MM-ddTHH:mm:ss.fffffffzzz", CultureInfo.InvariantCulture)),
            DateOnly day => Of(day.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture)),
            TimeSpan span => Of(span.ToString("c", CultureInfo.InvariantCulture)),
            Enum choice => Of(choice.ToString()),
            IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
            IEnumerable values => $"[{string.Join(',', values.Cast<object?>().Select(Of))}]",
            _ => JsonSerializer.Serialize(value, value.GetType(), Options),
        };

    private static readonly JsonSerializerOptions Options = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private static string WithPoint(string number) =>
        number is "1E-07" ? "1e-7"
        : number.AsSpan().IndexOfAny('.', 'E') < 0 ? number + ".0"
        : number;
}
