using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Values;

/// <summary>The type of a C# number, from narrow to wide.</summary>
internal enum CSharpNumberType
{
    /// <summary>An <see cref="int"/>.</summary>
    Int,

    /// <summary>A <see cref="long"/>.</summary>
    Whole,

    /// <summary>A <see cref="float"/>.</summary>
    Single,

    /// <summary>A <see cref="double"/>.</summary>
    Real,

    /// <summary>A <see cref="decimal"/>.</summary>
    Decimal,
}

/// <summary>A C# number. Operations use the wider type of two operands.</summary>
internal readonly record struct CSharpNumber
{
    private readonly long _whole;
    private readonly double _real;
    private readonly decimal _exact;

    public CSharpNumber(int value) => (Type, _whole) = (CSharpNumberType.Int, value);

    public CSharpNumber(long value) => (Type, _whole) = (CSharpNumberType.Whole, value);

    public CSharpNumber(float value) => (Type, _real) = (CSharpNumberType.Single, value);

    public CSharpNumber(double value) => (Type, _real) = (CSharpNumberType.Real, value);

    public CSharpNumber(decimal value) => (Type, _exact) = (CSharpNumberType.Decimal, value);

    public CSharpNumberType Type { get; }

    /// <summary>Whether the type is <see cref="int"/> or <see cref="long"/>.</summary>
    public bool IsWhole => Type <= CSharpNumberType.Whole;

    /// <summary>Whether the type is <see cref="float"/> or <see cref="double"/>.</summary>
    public bool IsReal => Type is CSharpNumberType.Single or CSharpNumberType.Real;

    /// <summary>The value, if <see cref="IsWhole"/>.</summary>
    public long Whole => _whole;

    /// <summary>The value as a double.</summary>
    public double Real
    {
        get
        {
            if (IsWhole)
            {
                return _whole;
            }

            if (IsReal)
            {
                return _real;
            }

            return (double)_exact;
        }
    }

    /// <summary>The value as a decimal.</summary>
    /// <exception cref="OverflowException">The value is too large for a decimal, or NaN.</exception>
    public decimal Decimal =>
        Type switch
        {
            CSharpNumberType.Int or CSharpNumberType.Whole => _whole,
            CSharpNumberType.Single => (decimal)(float)_real,
            CSharpNumberType.Real => (decimal)_real,
            _ => _exact,
        };

    /// <summary>The value as a long, without its fraction.</summary>
    /// <exception cref="OverflowException">The value is a decimal too large for a long.</exception>
    public long Truncated
    {
        get
        {
            if (IsWhole)
            {
                return _whole;
            }

            if (IsReal)
            {
                return (long)_real;
            }

            return (long)_exact;
        }
    }

    /// <summary>Returns the type in which C# computes with two numbers.</summary>
    public static CSharpNumberType Common(CSharpNumber left, CSharpNumber right) =>
        left.Type > right.Type ? left.Type : right.Type;

    /// <summary>Returns the number converted to a wider type.</summary>
    public CSharpNumber ConvertTo(CSharpNumberType type) =>
        type switch
        {
            CSharpNumberType.Int => this,
            CSharpNumberType.Whole => new CSharpNumber(_whole),
            CSharpNumberType.Single => new CSharpNumber((float)Real),
            CSharpNumberType.Real => new CSharpNumber(Real),
            _ => new CSharpNumber(Decimal),
        };

    /// <summary>Computes <c>+ - * / %</c>.</summary>
    /// <exception cref="DivideByZeroException">A division by zero of a type other than float or double.</exception>
    /// <exception cref="OverflowException">A decimal, or the quotient of integers, is too large.</exception>
    public static CSharpNumber Calculate(ScriptFunction function, CSharpNumber left, CSharpNumber right) =>
        Common(left, right) switch
        {
            CSharpNumberType.Int => new CSharpNumber(CalculateInts(function, (int)left._whole, (int)right._whole)),
            CSharpNumberType.Whole => new CSharpNumber(CalculateLongs(function, left._whole, right._whole)),
            CSharpNumberType.Single => new CSharpNumber(
                (float)CalculateReals(function, (float)left.Real, (float)right.Real)
            ),
            CSharpNumberType.Real => new CSharpNumber(CalculateReals(function, left.Real, right.Real)),
            _ => new CSharpNumber(
                function switch
                {
                    ScriptFunction.Plus => left.Decimal + right.Decimal,
                    ScriptFunction.Minus => left.Decimal - right.Decimal,
                    ScriptFunction.Times => left.Decimal * right.Decimal,
                    ScriptFunction.DividedBy => left.Decimal / right.Decimal,
                    _ => left.Decimal % right.Decimal,
                }
            ),
        };

    /// <summary>Returns the order of two numbers; null if one is NaN.</summary>
    public static int? Compare(CSharpNumber left, CSharpNumber right)
    {
        var type = Common(left, right);
        var (first, second) = (left.ConvertTo(type), right.ConvertTo(type));
        if (first.IsWhole)
        {
            return first._whole.CompareTo(second._whole);
        }

        if (!first.IsReal)
        {
            return first._exact.CompareTo(second._exact);
        }

        if (double.IsNaN(first._real) || double.IsNaN(second._real))
        {
            return null;
        }

        return first._real.CompareTo(second._real);
    }

    // Sums, differences and products of integers wrap around, as in unchecked C#.
    private static int CalculateInts(ScriptFunction function, int left, int right) =>
        unchecked(
            function switch
            {
                ScriptFunction.Plus => left + right,
                ScriptFunction.Minus => left - right,
                ScriptFunction.Times => left * right,
                _ => (int)Divide(function, left, right, int.MinValue),
            }
        );

    private static long CalculateLongs(ScriptFunction function, long left, long right) =>
        unchecked(
            function switch
            {
                ScriptFunction.Plus => left + right,
                ScriptFunction.Minus => left - right,
                ScriptFunction.Times => left * right,
                _ => Divide(function, left, right, long.MinValue),
            }
        );

    // The remainder of the least number and -1 throws on some processors and is 0 on others. Here it always throws.
    private static long Divide(ScriptFunction function, long left, long right, long min)
    {
        if (right == 0)
        {
            throw new DivideByZeroException();
        }

        if (right == -1 && left == min)
        {
            throw new OverflowException();
        }

        if (function == ScriptFunction.DividedBy)
        {
            return left / right;
        }

        return left % right;
    }

    // Also used for floats. The caller rounds the result to a float, which then equals the result of float arithmetic.
    private static double CalculateReals(ScriptFunction function, double left, double right) =>
        function switch
        {
            ScriptFunction.Plus => left + right,
            ScriptFunction.Minus => left - right,
            ScriptFunction.Times => left * right,
            ScriptFunction.DividedBy => left / right,
            _ => left % right,
        };
}
