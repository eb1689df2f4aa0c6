namespace Rookery.Documents.Json;

/// <summary>Dates as RavenDB's dialect writes them: <c>2026-11-21T09:49:45.2120000Z</c>.</summary>
public static class WireDate
{
    /// <summary>Bytes of a written date.</summary>
    public const int Length = 28;

    /// <summary>Writes a date with seven fractional digits and Z.</summary>
    /// <param name="destination">At least <see cref="Length"/> bytes.</param>
    /// <param name="utcTicks">Ticks since 0001-01-01 UTC.</param>
    public static void Write(Span<byte> destination, long utcTicks) => throw new NotSupportedException();

    /// <summary>Reads a date with Z, with an offset, or without either (then it is taken as UTC: the log must not depend on a node's time zone); up to seven fractional digits.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out long utcTicks) => throw new NotSupportedException();
}
