using System.Globalization;
using System.Text.Encodings.Web;

namespace Rookery.Queries.Language;

/// <summary>
/// Parses calls of declared functions in the conditions of a subscription, and writes them as JavaScript:
/// <c>total(o) &gt; 100</c>, or <c>predicate.call(o)</c>, which RavenDB's client for .NET sends.
/// </summary>
internal static class CallReader
{
    /// <summary>Parses the arguments of a call, after its name.</summary>
    /// <param name="reader">The tokens.</param>
    /// <param name="fields">The declared functions and the alias.</param>
    /// <param name="name">The name of the call.</param>
    /// <param name="onDocument">The function, if it is called as <c>f.call(o)</c>; otherwise null.</param>
    /// <returns>The call as JavaScript; null if the name is no declared function.</returns>
    /// <exception cref="QueryException">The brackets are not closed, or the arguments are not supported.</exception>
    public static string? TryRead(RqlReader reader, RqlFieldReader fields, FieldName name, out string? onDocument)
    {
        onDocument = null;
        var steps = name.Path.Steps;
        string function = steps[0].Name;
        bool hasThis = steps.Count == 2 && string.Equals(steps[1].Name, "call", StringComparison.Ordinal);
        bool isDeclared = fields.Functions.Any(declared =>
            string.Equals(declared.Name, function, StringComparison.Ordinal)
        );
        if (!isDeclared || (steps.Count != 1 && !hasThis))
        {
            return null;
        }

        reader.ExpectSymbol("(");
        if (hasThis)
        {
            onDocument = function;
            RequireDocument(reader, fields);
        }

        int start = reader.Current.Position;
        for (int depth = 1; ; )
        {
            if (reader.Current.Kind == RqlTokenKind.End)
            {
                throw reader.Unexpected("')'");
            }

            depth += reader.Current.IsSymbol("(") ? 1 : 0;
            depth -= reader.Current.IsSymbol(")") ? 1 : 0;
            if (depth == 0)
            {
                int end = reader.Current.Position;
                reader.Take();
                return $"{function}({reader.Text[start..end]})";
            }

            reader.Take();
        }
    }

    /// <summary>Parses the operator and the value after a call.</summary>
    /// <returns>The comparison as JavaScript.</returns>
    public static string Compare(RqlReader reader, string call, ComparisonOperator comparison)
    {
        reader.Take();
        var value = OperandReader.Read(reader);
        string text = value switch
        {
            TextOperand given => $"\"{JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(given.Value)}\"",
            NumberOperand number => $"({number.Text})",
            BooleanOperand boolean => boolean.Value ? "true" : "false",
            NullOperand => "null",
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "A call of a declared function is compared with a text, a number, true, false or null.",
                value.Position
            ),
        };
        string sign = comparison switch
        {
            ComparisonOperator.Equal => "==",
            ComparisonOperator.NotEqual => "!=",
            ComparisonOperator.Less => "<",
            ComparisonOperator.LessOrEqual => "<=",
            ComparisonOperator.Greater => ">",
            _ => ">=",
        };
        return string.Create(CultureInfo.InvariantCulture, $"{call} {sign} {text}");
    }

    private static void RequireDocument(RqlReader reader, RqlFieldReader fields)
    {
        var first = reader.Current;
        bool isDocument =
            first.Kind == RqlTokenKind.Word
            && (
                string.Equals(first.Text, fields.Alias, StringComparison.Ordinal)
                || string.Equals(first.Text, "this", StringComparison.Ordinal)
            );
        if (!isDocument)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "The first argument of 'call' is the alias of 'from'.",
                first.Position
            );
        }
    }
}
