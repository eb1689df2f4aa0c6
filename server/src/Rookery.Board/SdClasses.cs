using System.Globalization;

namespace Rookery.Board;

/// <summary>
/// The speed classes of an SD card. Null means that the register has a value without a meaning, 0 that the card has no
/// class of this kind.
/// </summary>
/// <param name="Speed">Speed class: 2, 4, 6 or 10 MB/s of sequential writes.</param>
/// <param name="Uhs">UHS speed grade: 1 or 3, tens of MB/s.</param>
/// <param name="Video">Video speed class: 6 to 90 MB/s.</param>
/// <param name="Application">Application performance class: A1 promises 500 random writes of 4 KiB a second. A2
/// promises 2000 if the host queues commands.</param>
public sealed record SdClasses(int? Speed, int? Uhs, int? Video, int? Application)
{
    // The register has 512 bits; the kernel writes it as 128 hexadecimal digits, the highest bit first.
    private const int RegisterBytes = 64;
    private const int SpeedByte = 8; // bits 447:440
    private const int UhsByte = 14; // bits 399:396
    private const int VideoByte = 15; // bits 391:384
    private const int ApplicationByte = 21; // bits 339:336

    /// <summary>
    /// Parses the SD Status register (SSR), section 4.10.2 of the SD Physical Layer Simplified Specification.
    /// </summary>
    /// <param name="hexadecimal">The register as the kernel's file <c>ssr</c> prints it: 128 hexadecimal
    /// digits.</param>
    /// <returns>The classes; null if the text has another form or is all zeros, because the kernel could not read the
    /// register.</returns>
    public static SdClasses? Parse(ReadOnlySpan<char> hexadecimal)
    {
        Span<byte> register = stackalloc byte[RegisterBytes];
        if (
            hexadecimal.Length != RegisterBytes * 2
            || Convert.FromHexString(hexadecimal, register, out _, out _) != System.Buffers.OperationStatus.Done
            || !register.ContainsAnyExcept((byte)0)
        )
        {
            return null;
        }

        int uhs = register[UhsByte] >> 4;
        int video = register[VideoByte];
        int application = register[ApplicationByte] & 0xf;
        return new SdClasses(
            SpeedOf(register[SpeedByte]),
            uhs is 0 or 1 or 3 ? uhs : null,
            video is 0 or 6 or 10 or 30 or 60 or 90 ? video : null,
            application <= 2 ? application : null
        );
    }

    /// <summary>
    /// Returns the classes as they are printed on cards: "class 10, U3, V30, A2"; "none" without any.
    /// </summary>
    public override string ToString()
    {
        string?[] classes =
        [
            Describe("class ", Speed),
            Describe("U", Uhs),
            Describe("V", Video),
            Describe("A", Application),
        ];
        string known = string.Join(", ", classes.OfType<string>());
        return known.Length > 0 ? known : "none";
    }

    private static string? Describe(string prefix, int? value) =>
        value is > 0 ? string.Create(CultureInfo.InvariantCulture, $"{prefix}{value}") : null;

    private static int? SpeedOf(byte code) =>
        code switch
        {
            0 => 0,
            1 => 2,
            2 => 4,
            3 => 6,
            4 => 10,
            _ => null,
        };
}
