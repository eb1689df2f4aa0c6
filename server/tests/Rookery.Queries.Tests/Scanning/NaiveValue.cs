using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>
/// A value as rules 1 to 8 of docs/reference/rql.md describe it, implemented independently with the runtime's decimals,
/// strings and dates, and a parsed document.
/// </summary>
/// <param name="Kind">The kind of the value.</param>
/// <param name="Number">The value of a number; 0 or 1 for a boolean.</param>
/// <param name="Text">A text in lower case, or the text of an object.</param>
/// <param name="Raw">A text with its case.</param>
internal sealed record NaiveValue(NaiveKind Kind, decimal Number, string Text, string Raw)
{
    public static NaiveValue Of(JsonElement json) =>
        json.ValueKind switch
        {
            JsonValueKind.Null => new(NaiveKind.Null, 0, "", ""),
            JsonValueKind.False => new(NaiveKind.Boolean, 0, "", ""),
            JsonValueKind.True => new(NaiveKind.Boolean, 1, "", ""),
            JsonValueKind.Number => new(
                NaiveKind.Number,
                decimal.Parse(json.GetRawText(), NumberStyles.Float, CultureInfo.InvariantCulture),
                "",
                ""
            ),
            JsonValueKind.String => new(NaiveKind.Text, 0, Fold(json.GetString()!), json.GetString()!),
            _ => new(NaiveKind.Object, 0, json.GetRawText(), json.GetRawText()),
        };

    /// <summary>Returns all values at a path.</summary>
    public static List<JsonElement> At(JsonElement json, IEnumerable<string> steps)
    {
        if (json.ValueKind == JsonValueKind.Array)
        {
            return [.. json.EnumerateArray().SelectMany(element => At(element, steps))];
        }

        if (!steps.Any())
        {
            return [json];
        }

        return json.ValueKind == JsonValueKind.Object && json.TryGetProperty(steps.First(), out JsonElement member)
            ? At(member, steps.Skip(1))
            : [];
    }

    /// <summary>Compares by rule 3 and, within a kind, by rules 4 to 8.</summary>
    public static int Compare(NaiveValue one, NaiveValue other, bool isExact = false)
    {
        if (one.Kind != other.Kind || one.Kind < NaiveKind.Text)
        {
            return one.Kind != other.Kind ? one.Kind.CompareTo(other.Kind) : one.Number.CompareTo(other.Number);
        }

        return CompareTexts(isExact ? one.Raw : one.Text, isExact ? other.Raw : other.Text);
    }

    public string TextOf(bool isExact) => isExact ? Raw : Text;

    /// <summary>Returns a text in lower case, or a date in one form.</summary>
    public static string Fold(string text)
    {
        string[] forms =
        [
            "yyyy-MM-ddTHH:mm:ss",
            "yyyy-MM-ddTHH:mm:ss.FFFFFFF",
            "yyyy-MM-ddTHH:mm:ssK",
            "yyyy-MM-ddTHH:mm:ss.FFFFFFFK",
        ];
        return
            text.Length >= 19
            && DateTimeOffset.TryParseExact(
                text,
                forms,
                CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
                out DateTimeOffset date
            )
            ? date.ToString("yyyy-MM-dd't'HH:mm:ss.fffffff", CultureInfo.InvariantCulture)
            : string.Concat(text.EnumerateRunes().Select(static rune => Rune.ToLowerInvariant(rune).ToString()));
    }

    private static int CompareTexts(string one, string other)
    {
        int[] a = [.. one.EnumerateRunes().Select(static rune => rune.Value)];
        int[] b = [.. other.EnumerateRunes().Select(static rune => rune.Value)];
        return Math.Sign(a.AsSpan().SequenceCompareTo(b));
    }
}

/// <summary>The kinds of values in the order of rule 3.</summary>
internal enum NaiveKind
{
    Null,
    Boolean,
    Number,
    Text,
    Object,
}

/// <summary>Conditions as rules 9 to 19 describe them.</summary>
internal static class NaiveCondition
{
    public static bool Holds(Condition condition, JsonElement document, bool isExact = false)
    {
        switch (condition)
        {
            case AndCondition and:
                return and.Conditions.All(one => Holds(one, document, isExact));
            case OrCondition or:
                return or.Conditions.Any(one => Holds(one, document, isExact));
            case NotCondition not:
                return !Holds(not.Inner, document, isExact);
            case ExactCondition exact:
                return Holds(exact.Inner, document, isExact: true);
            case EveryCondition:
                return true;
            case ExistsCondition exists:
                return Values(exists.Field, document).Count > 0;
            case InCondition { Values.Count: 0 }:
                return false;
            case InCondition { IsAll: true } all:
                return all.Values.All(operand =>
                    Values(all.Field, document).Any(value => NaiveValue.Compare(value, Value(operand), isExact) == 0)
                );
            case InCondition any:
                return any.Values.Any(operand =>
                    Values(any.Field, document).Any(value => NaiveValue.Compare(value, Value(operand), isExact) == 0)
                );
            case BetweenCondition between:
                return Values(between.Field, document)
                    .Any(value =>
                        IsInside(
                            value,
                            Value(between.Low),
                            isLowIncluded: true,
                            Value(between.High),
                            isHighIncluded: true,
                            isExact
                        )
                    );
            case ComparisonCondition comparison:
                return Compare(comparison, Values(comparison.Field, document), Value(comparison.Value), isExact);
            case TextCondition text:
                string expected = Value(text.Text).Raw;
                expected = isExact
                    ? expected
                    : string.Concat(
                        expected
                            .EnumerateRunes()
                            .Select(static rune => System.Text.Rune.ToLowerInvariant(rune).ToString())
                    );
                return Values(text.Field, document)
                    .Any(value =>
                        value.Kind == NaiveKind.Text
                        && (
                            text.Kind == TextConditionKind.StartsWith
                                ? value.TextOf(isExact).StartsWith(expected, StringComparison.Ordinal)
                                : value.TextOf(isExact).EndsWith(expected, StringComparison.Ordinal)
                        )
                    );
            default:
                throw new NotSupportedException(condition.ToString());
        }
    }

    private static bool Compare(
        ComparisonCondition comparison,
        List<NaiveValue> values,
        NaiveValue expected,
        bool isExact
    ) =>
        comparison.Operator switch
        {
            ComparisonOperator.Equal => values.Any(value => NaiveValue.Compare(value, expected, isExact) == 0),
            ComparisonOperator.NotEqual => values.All(value => NaiveValue.Compare(value, expected, isExact) != 0),
            ComparisonOperator.Less or ComparisonOperator.LessOrEqual => values.Any(value =>
                IsInside(
                    value,
                    low: null,
                    isLowIncluded: false,
                    expected,
                    comparison.Operator == ComparisonOperator.LessOrEqual,
                    isExact
                )
            ),
            _ => values.Any(value =>
                IsInside(
                    value,
                    expected,
                    comparison.Operator == ComparisonOperator.GreaterOrEqual,
                    high: null,
                    isHighIncluded: false,
                    isExact
                )
            ),
        };

    private static bool IsInside(
        NaiveValue value,
        NaiveValue? low,
        bool isLowIncluded,
        NaiveValue? high,
        bool isHighIncluded,
        bool isExact
    )
    {
        low = IsOpen(low) ? null : low;
        high = IsOpen(high) ? null : high;
        if (low is null && high is null)
        {
            return value.Kind != NaiveKind.Null;
        }

        int toLow = low is null ? 1 : NaiveValue.Compare(value, low, isExact);
        int toHigh = high is null ? -1 : NaiveValue.Compare(value, high, isExact);
        return value.Kind == (low ?? high)!.Kind
            && value.Kind == (high ?? low)!.Kind
            && (toLow > 0 || (toLow == 0 && isLowIncluded))
            && (toHigh < 0 || (toHigh == 0 && isHighIncluded));
    }

    private static bool IsOpen(NaiveValue? bound) =>
        bound is null or { Kind: NaiveKind.Null } or { Kind: NaiveKind.Text, Raw: "*" or "NULL" };

    private static List<NaiveValue> Values(FieldReference field, JsonElement document) =>
        [
            .. NaiveValue
                .At(document, ((PathReference)field).Path.Steps.Select(static step => step.Name))
                .Select(NaiveValue.Of),
        ];

    private static NaiveValue Value(Operand operand) =>
        operand switch
        {
            NullOperand => new(NaiveKind.Null, 0, "", ""),
            BooleanOperand boolean => new(NaiveKind.Boolean, boolean.Value ? 1 : 0, "", ""),
            NumberOperand number => new(
                NaiveKind.Number,
                decimal.Parse(number.Text, NumberStyles.Float, CultureInfo.InvariantCulture),
                "",
                ""
            ),
            _ => new(NaiveKind.Text, 0, NaiveValue.Fold(((TextOperand)operand).Value), ((TextOperand)operand).Value),
        };
}
