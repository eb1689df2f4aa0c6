using System.Globalization;

namespace Rookery.Snmp;

/// <summary>One object that can be asked for.</summary>
/// <param name="Id">Where it stands in the tree.</param>
/// <param name="Type">As snmpd's pass_persist calls it: "integer", "gauge", "counter64", "string".</param>
/// <param name="Value">Its value as text, in one line.</param>
internal sealed record SnmpObject(ObjectId Id, string Type, string Value);

/// <summary>An object identifier: numbers from the root of the tree. They are ordered number by number.</summary>
/// <param name="numbers">The numbers.</param>
internal readonly struct ObjectId(uint[] numbers)
{
    // RFC 2578, 3.5.
    private const int MostNumbers = 128;

    private readonly uint[] _numbers = numbers;

    /// <summary>Reads ".1.3.6".</summary>
    /// <returns>False when it is none.</returns>
    public static bool TryParse(string text, out ObjectId id)
    {
        string[] parts = text.Trim().TrimStart('.').Split('.');
        var numbers = new uint[Math.Min(parts.Length, MostNumbers)];
        id = new ObjectId(numbers);
        if (parts.Length > MostNumbers)
        {
            return false;
        }

        for (int i = 0; i < parts.Length; i++)
        {
            if (!uint.TryParse(parts[i], NumberStyles.None, CultureInfo.InvariantCulture, out numbers[i]))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>The same with more numbers behind it.</summary>
    public ObjectId With(params ReadOnlySpan<uint> more) => new([.. _numbers, .. more]);

    /// <summary>Below 0, 0 or above 0: whether it comes before, is, or comes behind another one.</summary>
    public int OrderTo(ObjectId other) => _numbers.AsSpan().SequenceCompareTo(other._numbers);

    /// <inheritdoc/>
    public override string ToString() => "." + string.Join('.', _numbers);
}
