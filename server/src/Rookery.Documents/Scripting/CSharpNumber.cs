namespace Rookery.Documents.Scripting;

/// <summary>Which type a number of C# has.</summary>
internal enum CSharpNumberType
{
    /// <summary>A <see cref="long"/>.</summary>
    Whole,

    /// <summary>A <see cref="double"/>.</summary>
    Real,

    /// <summary>A <see cref="decimal"/>.</summary>
    Decimal,
}

/// <summary>A number as C# computes with it: of two types the wider one counts.</summary>
internal readonly record struct CSharpNumber
{
    private readonly long whole;
    private readonly double real;
    private readonly decimal exact;

    public CSharpNumber(long value) => (Type, whole) = (CSharpNumberType.Whole, value);

    public CSharpNumber(double value) => (Type, real) = (CSharpNumberType.Real, value);

    public CSharpNumber(decimal value) => (Type, exact) = (CSharpNumberType.Decimal, value);

    public CSharpNumberType Type { get; }

    /// <summary>The number of a <see cref="CSharpNumberType.Whole"/>.</summary>
    public long Whole => whole;

    /// <summary>As a double.</summary>
    public double Real => Type switch
    {
        CSharpNumberType.Whole => whole,
        CSharpNumberType.Real => real,
        _ => (double)exact,
    };

    /// <summary>As a decimal.</summary>
    /// <exception cref="OverflowException">It is none.</exception>
    public decimal Decimal => Type switch
    {
        CSharpNumberType.Whole => whole,
        CSharpNumberType.Real => (decimal)real,
        _ => exact,
    };

    /// <summary>As a long: the fraction is cut.</summary>
    /// <exception cref="OverflowException">It is a decimal beyond.</exception>
    public long Cut => Type switch
    {
        CSharpNumberType.Whole => whole,
        CSharpNumberType.Real => (long)real,
        _ => (long)exact,
    };

    /// <summary>The type in which C# computes with two numbers.</summary>
    public static CSharpNumberType Common(CSharpNumber left, CSharpNumber right) => left.Type > right.Type ? left.Type : right.Type;

    /// <summary><c>+ - * / %</c>.</summary>
    /// <exception cref="DivideByZeroException">It divides by zero, and not doubles.</exception>
    /// <exception cref="OverflowException">A decimal would be too large.</exception>
    public static CSharpNumber Calculate(ScriptFunction function, CSharpNumber left, CSharpNumber right) => Common(left, right) switch
    {
        CSharpNumberType.Whole => new CSharpNumber(unchecked(function switch
        {
            ScriptFunction.Plus => left.whole + right.whole,
            ScriptFunction.Minus => left.whole - right.whole,
            ScriptFunction.Times => left.whole * right.whole,
            _ when right.whole == 0 => throw new DivideByZeroException(),
            ScriptFunction.DividedBy => right.whole == -1 ? -left.whole : left.whole / right.whole,
            _ => right.whole == -1 ? 0 : left.whole % right.whole,
        })),
        CSharpNumberType.Real => new CSharpNumber(function switch
        {
            ScriptFunction.Plus => left.Real + right.Real,
            ScriptFunction.Minus => left.Real - right.Real,
            ScriptFunction.Times => left.Real * right.Real,
            ScriptFunction.DividedBy => left.Real / right.Real,
            _ => left.Real % right.Real,
        }),
        _ => new CSharpNumber(function switch
        {
            ScriptFunction.Plus => left.Decimal + right.Decimal,
            ScriptFunction.Minus => left.Decimal - right.Decimal,
            ScriptFunction.Times => left.Decimal * right.Decimal,
            ScriptFunction.DividedBy => left.Decimal / right.Decimal,
            _ => left.Decimal % right.Decimal,
        }),
    };

    /// <summary>The order of two numbers; null where one is NaN.</summary>
    public static int? Compare(CSharpNumber left, CSharpNumber right) => Common(left, right) switch
    {
        CSharpNumberType.Whole => left.whole.CompareTo(right.whole),
        CSharpNumberType.Real => double.IsNaN(left.Real) || double.IsNaN(right.Real) ? null : left.Real.CompareTo(right.Real),
        _ => left.Decimal.CompareTo(right.Decimal),
    };
}
