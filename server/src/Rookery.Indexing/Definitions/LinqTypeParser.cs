using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Parses C# type names and casts.</summary>
internal sealed class LinqTypeParser(LinqParser parser)
{
    /// <summary>
    /// Maximum tokens in the type arguments of one type. Text that turns out not to be a type is parsed again as an
    /// expression, so this bounds the tokens that are read in vain.
    /// </summary>
    private const int MaxTypeTokens = 64;

    /// <summary>
    /// The cast function of each type that converts values. Other known types leave the value unchanged.
    /// </summary>
    public static readonly Dictionary<string, ScriptFunction> Casts = new(StringComparer.Ordinal)
    {
        ["string"] = ScriptFunction.CastToText,
        ["String"] = ScriptFunction.CastToText,
        ["int"] = ScriptFunction.CastToInt,
        ["Int32"] = ScriptFunction.CastToInt,
        ["long"] = ScriptFunction.CastToLong,
        ["Int64"] = ScriptFunction.CastToLong,
        ["double"] = ScriptFunction.CastToDouble,
        ["Double"] = ScriptFunction.CastToDouble,
        ["float"] = ScriptFunction.CastToFloat,
        ["Single"] = ScriptFunction.CastToFloat,
        ["decimal"] = ScriptFunction.CastToDecimal,
        ["Decimal"] = ScriptFunction.CastToDecimal,
    };

    private static readonly HashSet<string> UnsupportedNumbers = new(StringComparer.Ordinal)
    {
        "byte",
        "Byte",
        "sbyte",
        "SByte",
        "short",
        "Int16",
        "ushort",
        "UInt16",
        "uint",
        "UInt32",
        "ulong",
        "UInt64",
        "nint",
        "nuint",
        "IntPtr",
        "UIntPtr",
        "Half",
        "Int128",
        "UInt128",
        "BigInteger",
    };

    // Types whose cast leaves the value unchanged.
    private static readonly HashSet<string> Unchanged = new(StringComparer.Ordinal)
    {
        "object",
        "dynamic",
        "bool",
        "Object",
        "Boolean",
        "DateTime",
        "DateTimeOffset",
        "DateOnly",
        "TimeOnly",
        "TimeSpan",
        "Guid",
        "IEnumerable",
        "ICollection",
        "IList",
        "List",
        "Func",
    };

    /// <summary>
    /// The types that are keywords. If one of them in parentheses precedes a minus sign, it is a cast, and the sign
    /// negates.
    /// </summary>
    private static readonly HashSet<string> Keywords = new(StringComparer.Ordinal)
    {
        "string",
        "int",
        "long",
        "double",
        "float",
        "decimal",
        "object",
        "bool",
    };

    /// <summary>Returns whether a name is a type of numbers that scripts do not have.</summary>
    public static bool IsUnsupportedNumber(string name) => UnsupportedNumbers.Contains(name);

    /// <summary>Reads a cast, if the next tokens are a type in parentheses followed by a value.</summary>
    public bool TryParseCast(out TypeName type)
    {
        type = default;
        int mark = parser.Cursor.Mark;
        if (parser.Cursor.TryTake("(") && TryParseType(out type) && parser.Cursor.TryTake(")"))
        {
            var next = parser.Cursor.Current;
            bool isKnownType =
                type.IsArray || type.IsGeneric || Casts.ContainsKey(type.Name) || Unchanged.Contains(type.Name);

            // After another name in parentheses, '-' is a subtraction.
            bool isType = type.IsArray || type.IsGeneric || type.IsNullable || Keywords.Contains(type.Name);
            bool isValue = next.Kind switch
            {
                TokenKind.Number or TokenKind.Text => true,
                TokenKind.Name => !parser.Operators.IsOperator(next.Text) && !LinqQueryParser.IsClause(next),
                _ => next.Is("(") || (isKnownType && next.Is("!")) || (isType && next.Is("-")),
            };
            if (isValue)
            {
                return true;
            }
        }

        parser.Cursor.Reset(mark);
        return false;
    }

    /// <summary>Returns a value cast to a type.</summary>
    /// <exception cref="ScriptException">The cast is not supported, or a constant does not fit the type.</exception>
    public static Expression ToCast(TypeName type, Expression value, int position)
    {
        if (type.IsArray || Unchanged.Contains(type.Name))
        {
            // Later steps recognise a nullable type by the null in this expression.
            return type.IsNullable && !type.IsArray
                ? new ConditionalExpression(
                    new WordLiteral(Opcode.PushTrue, position),
                    value,
                    new WordLiteral(Opcode.PushNull, position),
                    position
                )
                : value;
        }

        if (!Casts.TryGetValue(type.Name, out var cast))
        {
            throw TokenCursor.NotSupported($"the cast to '{type.Name}'", position);
        }

        return type.IsNullable
            ? new InvokeExpression(cast, [value], position) { IsNullable = true }
            : LinqConstants.Fold(cast, value, position) ?? new InvokeExpression(cast, [value], position);
    }

    /// <summary>
    /// Reads a type, such as <c>System.Collections.Generic.List&lt;int?&gt;[]</c>. The name omits namespaces.
    /// </summary>
    public bool TryParseType(out TypeName type)
    {
        type = default;
        string name;
        do
        {
            if (parser.Cursor.Current.Kind != TokenKind.Name)
            {
                return false;
            }

            name = parser.Cursor.Take().Text;
        } while (parser.Cursor.TryTake("."));
        bool isGeneric = parser.Cursor.Current.Is("<");
        string element = isGeneric ? parser.Cursor.Ahead(1).Text : name;
        bool isNullable = isGeneric && parser.Cursor.Ahead(2).Is("?");
        if (isGeneric && !TrySkipTypeArguments())
        {
            return false;
        }

        isNullable |= parser.Cursor.TryTake("?");
        bool isArray = parser.Cursor.Current.Is("[") && parser.Cursor.Ahead(1).Is("]");
        if (isArray)
        {
            parser.Cursor.Take();
            parser.Cursor.Take();
        }

        type = new TypeName(name, isGeneric, isArray, element, isNullable);
        return true;
    }

    /// <summary>Skips the type arguments of a call, as in <c>LoadDocument&lt;User&gt;(…)</c>.</summary>
    public void SkipTypeArguments()
    {
        int mark = parser.Cursor.Mark;
        if (parser.Cursor.Current.Is("<") && (!TrySkipTypeArguments() || !parser.Cursor.Current.Is("(")))
        {
            parser.Cursor.Reset(mark);
        }
    }

    private bool TrySkipTypeArguments()
    {
        int level = 0;
        int end = parser.Cursor.Mark + MaxTypeTokens;
        do
        {
            var token = parser.Cursor.Take();
            level += token.Text switch
            {
                "<" => 1,
                ">" => -1,
                ">>" => -2,
                _ => 0,
            };
            if (
                token.Kind != TokenKind.Name
                && token.Text is not ("<" or ">" or ">>" or "," or "." or "?" or "[" or "]")
            )
            {
                return false;
            }
        } while (level > 0 && parser.Cursor.Mark < end);
        return level == 0;
    }

    /// <summary>
    /// A type as written. The element is the element type of an array or list, else the name itself.
    /// <paramref name="IsNullable"/> tells whether the type, or its element type, ends with a question mark.
    /// </summary>
    public readonly record struct TypeName(string Name, bool IsGeneric, bool IsArray, string Element, bool IsNullable);
}
