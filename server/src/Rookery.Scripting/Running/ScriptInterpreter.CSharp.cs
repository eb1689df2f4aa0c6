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
                    arguments[0].IsText ? LengthOf(_heap.Plain(arguments[0])) : _heap.Count(ToSequence(arguments[0]))
                ),
                < ScriptFunction.Property => Aggregate(function, ToSequence(arguments[0])),
                < ScriptFunction.Negated => OperateAsCSharp(function, arguments[0], arguments[1]),
                < ScriptFunction.CSharpRound => _heap.Convert(function, arguments[0], arguments[1..]),
                < ScriptFunction.CSharpToLower => _heap.CalculateAsCSharp(function, arguments),
                < ScriptFunction.NewDate => InvokeOnCSharpText(function, arguments),
                < ScriptFunction.ToSequence => InvokeOnDate(function, arguments),
                _ => InvokeOnSequence(function, arguments),
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

    private ScriptValue OperateAsCSharp(ScriptFunction function, ScriptValue first, ScriptValue second)
    {
        if (function == ScriptFunction.Property)
        {
            return GetProperty(first, second);
        }

        // A char is a number beside one, and where two are calculated with.
        if (
            (first.Trait == ValueTrait.Character && (second.IsNumber || second.Trait == ValueTrait.Character))
            || (second.Trait == ValueTrait.Character && first.IsNumber)
        )
        {
            first = first.IsNumber ? first : _heap.CodeOf(first);
            second = second.IsNumber ? second : _heap.CodeOf(second);
        }

        switch (function)
        {
            case ScriptFunction.IsSame:
                return ScriptValue.Of(IsSame(first, second, isOperator: true));
            case ScriptFunction.IsLess
            or ScriptFunction.IsLessOrEqual
            or ScriptFunction.IsGreater
            or ScriptFunction.IsGreaterOrEqual:
                return ScriptValue.Of(
                    !first.IsNothing && !second.IsNothing && IsInOrder(function, Compare(first, second))
                );
            case ScriptFunction.Plus:
                (first, second) = (_heap.AsRead(first), _heap.AsRead(second));
                if (first.IsText || second.IsText)
                {
                    return JoinAsCSharp(first, second);
                }

                break;
        }

        if (first.IsNothing || second.IsNothing)
        {
            return first.IsNothing || function is not (ScriptFunction.DividedBy or ScriptFunction.Modulo)
                ? ScriptValue.Null
                : throw new ScriptFailure("the script divides by what is missing or null");
        }

        if (first.IsNumber && second.IsNumber)
        {
            RequireNoMix(first, second);
            return _heap.ValueOf(
                first.Kind == ValueKind.Decimal || second.Kind == ValueKind.Decimal
                    ? CSharpNumber.Calculate(
                        function,
                        new CSharpNumber(_heap.DecimalOf(first)),
                        new CSharpNumber(_heap.DecimalOf(second))
                    )
                    : CalculateNumbers(function, _heap.NumeralOf(first), _heap.NumeralOf(second))
            );
        }

        return OperateOnDates(function, _heap.Temporal(first), _heap.Temporal(second));
    }

    /// <summary>C# has no operator for a decimal and a double. A number of a document becomes either.</summary>
    private static void RequireNoMix(ScriptValue first, ScriptValue second)
    {
        if (
            (first.Kind == ValueKind.Decimal && second.Kind == ValueKind.Real)
            || (first.Kind == ValueKind.Real && second.Kind == ValueKind.Decimal)
        )
        {
            throw Mixed();
        }
    }

    private static ScriptFailure Mixed() =>
        new("the script calculates with a decimal and a double, for which C# asks a cast");

    private CSharpNumber CalculateNumbers(ScriptFunction function, CSharpNumber left, CSharpNumber right)
    {
        var type = CSharpNumber.Common(left, right);
        if (function == ScriptFunction.Modulo && type is (CSharpNumberType.Single or CSharpNumberType.Real))
        {
            SpendOnRemainder(left.Real, right.Real);
        }

        return function == ScriptFunction.Plus && type == CSharpNumberType.Real
            ? new CSharpNumber(_context.AddReals(left.Real, right.Real))
            : CSharpNumber.Calculate(function, left, right);
    }

    private static bool IsInOrder(ScriptFunction function, int? order) =>
        order is { } known
        && function switch
        {
            ScriptFunction.IsLess => known < 0,
            ScriptFunction.IsLessOrEqual => known <= 0,
            ScriptFunction.IsGreater => known > 0,
            _ => known >= 0,
        };

    /// <summary>The order of two values of one type; null where a number is NaN.</summary>
    private int? Compare(ScriptValue left, ScriptValue right)
    {
        if (left.IsNumber && right.IsNumber)
        {
            RequireNoMix(left, right);
            return left.Kind == ValueKind.Decimal || right.Kind == ValueKind.Decimal
                ? _heap.DecimalOf(left).CompareTo(_heap.DecimalOf(right))
                : CSharpNumber.Compare(_heap.NumeralOf(left), _heap.NumeralOf(right));
        }

        var (first, second) = (_heap.TimeOf(left), _heap.TimeOf(right));
        return first.IsOfOneType(second) ? first.OrderTo(second)
            : left.IsText && right.IsText && !first.IsTime && !second.IsTime ? CompareTexts(left, right)
            : throw new ScriptFailure(
                $"the script compares {CSharpStrings.NameOf(left)} with {CSharpStrings.NameOf(right)}"
            );
    }

    /// <summary>Whether two values are equal as in C#; containers are by what they hold.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <param name="level">Containers around them.</param>
    /// <param name="isOperator">Whether two types that <c>==</c> does not take fail.</param>
    private bool IsSame(ScriptValue left, ScriptValue right, int level = 0, bool isOperator = false)
    {
        _heap.Spend(1);
        if (left.IsNothing || right.IsNothing)
        {
            return left.IsNothing && right.IsNothing;
        }

        if (left.IsNumber && right.IsNumber)
        {
            return Compare(left, right) == 0;
        }

        if (left.IsText && right.IsText && AreEqual(left, right))
        {
            return true;
        }

        var (first, second) = (_heap.TimeOf(left), _heap.TimeOf(right));
        if (first.IsOfOneType(second))
        {
            return first.OrderTo(second) == 0;
        }

        bool isOfOneType =
            left.Kind == right.Kind || (left.IsText && right.IsText) || (left.IsBoolean && right.IsBoolean);
        return isOfOneType || !isOperator
            ? left.IsContainer && left.Kind == right.Kind
                ? left.Start == right.Start || HaveSameMembers(left, right, level + 1)
                : left.Kind == right.Kind && left.IsBoolean
            : throw new ScriptFailure(
                $"the script compares {CSharpStrings.NameOf(left)} with {CSharpStrings.NameOf(right)}"
            );
    }

    private bool HaveSameMembers(ScriptValue left, ScriptValue right, int level)
    {
        int count = _heap.Count(left);
        if (count != _heap.Count(right) || level > JsonLimits.MaxDepth)
        {
            return false;
        }

        for (int index = 0; index < count; index++)
        {
            int other =
                left.Kind == ValueKind.Array
                    ? index
                    : _heap.Find(right, _heap.Span(_heap.Plain(_heap.Name(left, index))));
            if (
                other < 0
                || !(
                    left.Kind == ValueKind.Array
                        ? IsSame(_heap.Element(left, index), _heap.Element(right, other), level)
                        : IsSame(_heap.Member(left, index), _heap.Member(right, other), level)
                )
            )
            {
                return false;
            }
        }

        return true;
    }

    private ScriptValue JoinAsCSharp(ScriptValue left, ScriptValue right)
    {
        if (left.Kind == ValueKind.Text && left.Start + left.Length == _heap.Length && !_heap.HasHalves)
        {
            _heap.AddCSharpText(right);
            return _heap.TextFrom(left.Start);
        }

        int start = _heap.Length;
        _heap.AddCSharpText(left);
        _heap.AddCSharpText(right);
        return _heap.TextFrom(start);
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
