using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>Reads the values of a query's operands, with parameters filled in.</summary>
/// <param name="parameters">The parameters.</param>
public sealed class OperandValues(QueryParameters parameters)
{
    /// <summary>Returns a value as JSON. Refuses arrays and objects.</summary>
    public byte[] ReadScalar(Operand operand)
    {
        byte[] json = ReadJson(operand);
        return json[0] is (byte)'{' or (byte)'['
            ? throw new QueryException(
                QueryFault.Invalid,
                "A field is compared with a text, a number, true, false or null; use 'in' for a list.",
                operand.Position
            )
            : json;
    }

    /// <summary>
    /// Returns the value that a field is compared with as JSON: a scalar, or an object if it is a parameter.
    /// </summary>
    public byte[] ReadComparable(Operand operand) =>
        operand is ParameterOperand && ReadJson(operand) is [(byte)'{', ..] json ? json : ReadScalar(operand);

    /// <summary>Returns a value as JSON.</summary>
    public byte[] ReadJson(Operand operand) =>
        operand switch
        {
            NullOperand => "null"u8.ToArray(),
            BooleanOperand boolean => boolean.Value ? "true"u8.ToArray() : "false"u8.ToArray(),
            NumberOperand number => Encoding.UTF8.GetBytes(number.Text),
            TextOperand text => Quote(text.Value),
            ParameterOperand parameter => parameters.Find(parameter),
            CompareExchangeOperand value => parameters.FindCompareExchange(ReadText(value.Key, "cmpxchg()")),
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "A value of this kind is not supported here.",
                operand.Position
            ),
        };

    /// <summary>Returns the values of a list as JSON. A parameter that holds a list contributes its elements.</summary>
    public IEnumerable<byte[]> ReadElements(IReadOnlyList<Operand> operands)
    {
        foreach (Operand operand in operands)
        {
            byte[] json = ReadJson(operand);
            if (json[0] != (byte)'[')
            {
                yield return ReadScalar(operand);
                continue;
            }

            for (int at = 1; json[at] != (byte)']'; )
            {
                at = json[at] == (byte)',' ? at + 1 : at;
                int end = StoredJson.SkipValue(json, at);
                yield return json[at] is (byte)'{' or (byte)'['
                    ? throw new QueryException(
                        QueryFault.Invalid,
                        "A list after 'in' may contain only texts, numbers, true, false or null.",
                        operand.Position
                    )
                    : json[at..end];
                at = end;
            }
        }
    }

    /// <summary>Returns a text value, unescaped, in UTF-8. Refuses other values.</summary>
    /// <param name="operand">The operand.</param>
    /// <param name="clause">The name of the clause, for the message.</param>
    public byte[] ReadText(Operand operand, string clause) => ReadText(ReadJson(operand), operand, clause);

    private static byte[] ReadText(byte[] json, Operand operand, string clause)
    {
        if (json[0] != (byte)'"')
        {
            throw new QueryException(QueryFault.Invalid, $"'{clause}' needs a text.", operand.Position);
        }

        byte[] text = new byte[json.Length];
        return text[..JsonText.Unescape(json.AsSpan(1, json.Length - 2), text)];
    }

    /// <summary>
    /// Returns text values, unescaped, in UTF-8: one, or the elements of a parameter that holds a list. Refuses other
    /// values.
    /// </summary>
    /// <param name="operand">The operand.</param>
    /// <param name="clause">The name of the clause, for the message.</param>
    public IEnumerable<byte[]> ReadTexts(Operand operand, string clause)
    {
        foreach (byte[] json in ReadElements([operand]))
        {
            yield return ReadText(json, operand, clause);
        }
    }

    /// <summary>Returns a whole number from 0; null if the operand is missing or null.</summary>
    public long? ReadCount(Operand? operand, string clause)
    {
        if (operand is null)
        {
            return null;
        }

        byte[] json = ReadJson(operand);
        if (json[0] == (byte)'n') // null
        {
            return null;
        }

        return long.TryParse(json, NumberStyles.None, CultureInfo.InvariantCulture, out long count)
            ? count
            : throw NoCount(operand, clause);
    }

    /// <summary>Returns a whole number from 0.</summary>
    /// <exception cref="QueryException">The operand is anything else, also null.</exception>
    public long ReadRequiredCount(Operand operand, string clause) =>
        ReadCount(operand, clause) ?? throw NoCount(operand, clause);

    private static QueryException NoCount(Operand operand, string clause) =>
        new(QueryFault.Invalid, $"'{clause}' needs a whole number from 0.", operand.Position);

    /// <summary>Returns a text as JSON.</summary>
    internal static byte[] Quote(string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        const int MaxBytesOfEscape = 6;
        byte[] json = new byte[(utf8.Length * MaxBytesOfEscape) + 2];
        json[0] = (byte)'"';
        int length = JsonText.Escape(utf8, json.AsSpan(1));
        json[1 + length] = (byte)'"';
        return json[..(length + 2)];
    }
}
