using System.Globalization;

namespace Rookery.Snmp;

/// <summary>One SNMP object.</summary>
/// <param name="Id">The object's identifier.</param>
/// <param name="Type">The object's type in snmpd's pass_persist: "integer", "gauge", "counter64", "string".</param>
/// <param name="Value">The object's value as text, in one line.</param>
internal sealed record SnmpObject(ObjectId Id, string Type, string Value);

/// <summary>An object identifier: numbers from the root of the tree. They are ordered number by number.</summary>
/// <param name="numbers">The numbers.</param>
internal readonly struct ObjectId(uint[] numbers)
{
    // RFC 2578, 3.5.
    private const int MaxNumbers = 128;

    private readonly uint[] _numbers = numbers;

    /// <summary>Parses an identifier such as ".1.3.6".</summary>
    /// <returns>False if the text is not an object identifier.</returns>
    public static bool TryParse(string text, out ObjectId id)
    {
        string[] parts = text.Trim().TrimStart('.').Split('.');
        var numbers = new uint[Math.Min(parts.Length, MaxNumbers)];
        id = new ObjectId(numbers);
        if (parts.Length > MaxNumbers)
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

    /// <summary>Returns this identifier with more numbers appended.</summary>
    public ObjectId With(params ReadOnlySpan<uint> more) => new([.. _numbers, .. more]);

    /// <summary>
    /// Compares two identifiers: negative if this one comes before the other, 0 if they are equal, positive if it comes
    /// after.
    /// </summary>
    public int CompareWith(ObjectId other) => _numbers.AsSpan().SequenceCompareTo(other._numbers);

    /// <inheritdoc/>
    public override string ToString() => "." + string.Join('.', _numbers);
}
