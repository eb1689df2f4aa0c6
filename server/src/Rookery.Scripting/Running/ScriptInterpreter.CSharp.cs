using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>C# in the indexes of RavenDB: its operators. Of nothing, arithmetic is nothing and a comparison false; what
/// C# cannot do with two values fails.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue InvokeAsCSharp(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        // Strings of the runtime count as the script's memory until the function has its value.
        long held = _heap.HeldBytes;
        try
        {
            return function switch
            {
                ScriptFunction.Count => ScriptValue.OfInt(
                    arguments[0].IsText
                        ? _heap.LengthOf(_heap.Plain(arguments[0]))
                        : _heap.Count(_heap.ToSequence(arguments[0]))
                ),
                < ScriptFunction.Property => _context.Aggregate(function, _heap.ToSequence(arguments[0])),
                < ScriptFunction.Negated => _context.OperateAsCSharp(function, arguments[0], arguments[1]),
                < ScriptFunction.CSharpRound => _heap.Convert(function, arguments[0], arguments[1..]),
                < ScriptFunction.CSharpToLower => _heap.CalculateAsCSharp(function, arguments),
                < ScriptFunction.NewDate => _heap.InvokeOnCSharpText(function, arguments),
                < ScriptFunction.ToSequence => _heap.InvokeOnDate(function, arguments),
                _ => _context.InvokeOnSequence(function, arguments),
            };
        }
        catch (DivideByZeroException)
        {
            throw new ScriptFailure("the script divides by zero");
        }
        catch (OverflowException)
        {
            throw new ScriptFailure("a number or time span is larger than its type allows");
        }
        catch (Exception wrong) when (wrong is ArgumentException or FormatException)
        {
            throw new ScriptFailure("the script gives a function of C# a value that it does not take");
        }
        finally
        {
            _heap.GiveBackTo(held);
        }
    }

    /// <summary>Writes a value of C# as JSON.</summary>
    private void WriteCSharp(ScriptValue value)
    {
        Span<byte> room = stackalloc byte[CSharpDate.MostBytes];
        switch (value.Kind)
        {
            case ValueKind.Whole:
                value.Whole.TryFormat(room, out int length, default, CultureInfo.InvariantCulture);
                Write(room[..length]);
                break;
            case ValueKind.Real when !double.IsFinite(value.Double):
                WriteNonFinite(value.Double, isRefused: true);
                break;
            case ValueKind.Real:
                // A float is written with the digits that it has.
                double real =
                    value.Trait == ValueTrait.Single
                        ? double.Parse(
                            CSharpStrings.FormatNumber(_heap.NumeralOf(value), null),
                            CultureInfo.InvariantCulture
                        )
                        : value.Double;
                length = JsonNumber.Format(real, room);
                Write(room[..length]);
                Write(room[..length].IndexOfAny((byte)'.', (byte)'e') < 0 ? ".0"u8 : default);
                break;
            case ValueKind.Decimal:
                Write(_heap.Span(value));
                break;
            default:
                Write("\""u8);
                if (value.Kind == ValueKind.Span)
                {
                    TimeSpan.FromTicks(value.Whole).TryFormat(room, out length, "c", CultureInfo.InvariantCulture);
                }
                else
                {
                    length = _heap.DateOf(value).Write(room);
                }

                Write(room[..length]);
                Write("\""u8);
                break;
        }
    }
}
