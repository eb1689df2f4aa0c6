using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <content>Names of types, where C# writes them. Values have none: a cast changes numbers and texts, or
/// nothing.</content>
internal sealed partial class LinqParser
{
    /// <summary>What might be types is read twice: so far at most.</summary>
    private const int MostTypeTokens = 64;

    private static readonly Dictionary<string, ScriptFunction> Casts = new(StringComparer.Ordinal)
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

    /// <summary>Takes a cast's brackets, if they are next and hold a type, with a value behind them.</summary>
    private bool TryParseCast(out TypeName type)
    {
        type = default;
        int mark = _cursor.Mark;
        if (_cursor.TryTake("(") && TryParseType(out type) && _cursor.TryTake(")"))
        {
            var next = _cursor.Current;
            bool isKnown =
                type.IsArray || type.IsGeneric || Casts.ContainsKey(type.Name) || Unchanged.Contains(type.Name);
            if (
                next.Kind is TokenKind.Name or TokenKind.Number or TokenKind.Text
                    ? !_operators.IsOperator(next.Text) && !IsClause(next)
                    : next.Is("(") || (isKnown && (next.Is("-") || next.Is("!")))
            )
            {
                return true;
            }
        }

        _cursor.Reset(mark);
        return false;
    }

    private static Expression ToCast(TypeName type, Expression value, int position)
    {
        if (type.IsArray || Unchanged.Contains(type.Name))
        {
            return value;
        }

        return Casts.TryGetValue(type.Name, out var cast)
            ? LinqConstants.Folded(cast, value, position) ?? new InvokeExpression(cast, [value], position)
            : throw TokenCursor.NotSupported($"the cast to '{type.Name}'", position);
    }

    /// <summary>Takes a type: <c>System.Collections.Generic.List&lt;int?&gt;[]</c>. Its name is the last one.</summary>
    private bool TryParseType(out TypeName type)
    {
        type = default;
        string name;
        do
        {
            if (_cursor.Current.Kind != TokenKind.Name)
            {
                return false;
            }

            name = _cursor.Take().Text;
        } while (_cursor.TryTake("."));
        bool isGeneric = _cursor.Current.Is("<");
        string element = isGeneric ? _cursor.Ahead(1).Text : name;
        if (isGeneric && !TrySkipTypeArguments())
        {
            return false;
        }

        _cursor.TryTake("?");
        bool isArray = _cursor.Current.Is("[") && _cursor.Ahead(1).Is("]");
        if (isArray)
        {
            _cursor.Take();
            _cursor.Take();
        }

        type = new TypeName(name, isGeneric, isArray, element);
        return true;
    }

    /// <summary>Skips the types of a call: <c>LoadDocument&lt;User&gt;(…)</c>.</summary>
    private void SkipTypeArguments()
    {
        int mark = _cursor.Mark;
        if (_cursor.Current.Is("<") && (!TrySkipTypeArguments() || !_cursor.Current.Is("(")))
        {
            _cursor.Reset(mark);
        }
    }

    private bool TrySkipTypeArguments()
    {
        int level = 0;
        int end = _cursor.Mark + MostTypeTokens;
        do
        {
            var token = _cursor.Take();
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
        } while (level > 0 && _cursor.Mark < end);
        return level == 0;
    }

    /// <summary>A type as it was written; of an array or list the type of its elements.</summary>
    private readonly record struct TypeName(string Name, bool IsGeneric, bool IsArray, string Element);
}
