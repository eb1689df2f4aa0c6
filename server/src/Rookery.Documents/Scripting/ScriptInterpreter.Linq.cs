using System.Buffers.Text;

namespace Rookery.Documents.Scripting;

/// <content>Operators and properties as C# has them in the indexes of RavenDB: of nothing, arithmetic is nothing and a comparison false.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue InvokeAsLinq(ScriptFunction function, ScriptValue first, ReadOnlySpan<ScriptValue> rest)
    {
        switch (function)
        {
            case ScriptFunction.ToNumberOrNull:
                return first.IsNothing ? ScriptValue.Null : first.IsNumber ? first : ScriptValue.Of(ToNumber(first));
            case ScriptFunction.Property:
                return GetProperty(first, rest[0]);
            case ScriptFunction.IsSame:
                return ScriptValue.Of((first.IsNothing && rest[0].IsNothing) || AreEqual(first, rest[0]));
            case ScriptFunction.Plus when first.IsText || rest[0].IsText:
                return JoinTexts(first.IsNothing ? heap.NewText(default) : first, rest[0].IsNothing ? heap.NewText(default) : rest[0]);
        }

        var second = rest[0];
        bool isNothing = first.IsNothing || second.IsNothing;
        return function switch
        {
            ScriptFunction.Plus => isNothing ? ScriptValue.Null : Calculate(Opcode.Add, first, second),
            ScriptFunction.Minus => isNothing ? ScriptValue.Null : Calculate(Opcode.Subtract, first, second),
            ScriptFunction.Times => isNothing ? ScriptValue.Null : Calculate(Opcode.Multiply, first, second),
            ScriptFunction.DividedBy => isNothing ? ScriptValue.Null : Calculate(Opcode.Divide, first, second),
            ScriptFunction.Modulo => isNothing ? ScriptValue.Null : Calculate(Opcode.Remainder, first, second),
            ScriptFunction.IsLess => isNothing ? ScriptValue.Of(false) : Calculate(Opcode.Less, first, second),
            ScriptFunction.IsLessOrEqual => isNothing ? ScriptValue.Of(false) : Calculate(Opcode.LessOrEqual, first, second),
            ScriptFunction.IsGreater => isNothing ? ScriptValue.Of(false) : Calculate(Opcode.Greater, first, second),
            ScriptFunction.IsGreaterOrEqual => isNothing ? ScriptValue.Of(false) : Calculate(Opcode.GreaterOrEqual, first, second),
            _ => throw ScriptProgram.Broken(),
        };
    }

    /// <summary>What C# calls a property of this name; an object's own member comes first.</summary>
    private ScriptValue GetProperty(ScriptValue target, ScriptValue name)
    {
        if (target.Kind == ValueKind.Object)
        {
            bool isId = heap.Find(target, heap.Span(name)) < 0 && heap.Span(name).SequenceEqual("Id"u8);
            return isId ? IdOf(target) : GetMember(target, name);
        }

        var text = heap.Span(name);
        if (text.SequenceEqual("HasValue"u8))
        {
            return ScriptValue.Of(!target.IsNothing);
        }

        if (target.IsNothing || text.SequenceEqual("Value"u8))
        {
            return target.IsNothing ? ScriptValue.Null : target;
        }

        if (text.SequenceEqual("Length"u8) || text.SequenceEqual("Count"u8))
        {
            return target.IsText ? ScriptValue.Of(LengthOf(heap.Plain(target))) : target.Kind == ValueKind.Array ? ScriptValue.Of(heap.Count(target)) : ScriptValue.Null;
        }

        return target.IsText ? PartOfDate(heap.Span(target), text) : ScriptValue.Null;
    }

    /// <summary>A part of a date as JSON has it, <c>2026-11-24T03:45:00…</c>; null where the text is none.</summary>
    private static ScriptValue PartOfDate(ReadOnlySpan<byte> date, ReadOnlySpan<byte> part)
    {
        const int TimeBytes = 19;
        bool hasTime = date.Length >= TimeBytes && date[10] == (byte)'T' && date[13] == (byte)':' && date[16] == (byte)':';
        if (date.Length < 10 || date[4] != (byte)'-' || date[7] != (byte)'-' || (date.Length > 10 && !hasTime))
        {
            return ScriptValue.Null;
        }

        var digits = part[0] switch
        {
            (byte)'Y' => date[..4],
            (byte)'M' when part.SequenceEqual("Month"u8) => date[5..7],
            (byte)'D' => date[8..10],
            _ when !hasTime => "0"u8,
            (byte)'H' => date[11..13],
            (byte)'M' => date[14..16],
            _ => date[17..19],
        };
        return Utf8Parser.TryParse(digits, out uint number, out int read) && read == digits.Length ? ScriptValue.Of(number) : ScriptValue.Null;
    }
}
