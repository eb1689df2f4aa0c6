using System.Globalization;

namespace Rookery.Storage;

/// <summary>Names of run files: the file's number with sixteen digits, then ".run".</summary>
internal static class RunFileName
{
    private const string Extension = ".run";

    /// <summary>Returns the name of a file.</summary>
    public static string Of(long fileId) => fileId.ToString("D16", CultureInfo.InvariantCulture) + Extension;

    /// <summary>Parses a file's number from its name; false if the name is not that of a run.</summary>
    public static bool TryParse(string name, out long fileId)
    {
        fileId = 0;
        return name.EndsWith(Extension, StringComparison.Ordinal)
            && long.TryParse(
                name.AsSpan(0, name.Length - Extension.Length),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out fileId
            );
    }
}
