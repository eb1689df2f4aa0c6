using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>Looks for libraries of the system, which are loaded when they are needed.</summary>
public static class SystemLibrary
{
    /// <summary>
    /// Whether a library is installed and has all functions that are called. A file of that name that is no library, or
    /// another library, counts as not installed.
    /// </summary>
    /// <param name="name">File name, such as <c>liblz4.so.1</c>.</param>
    /// <param name="functions">Names of the functions.</param>
    public static bool Has(string name, params ReadOnlySpan<string> functions)
    {
        if (!NativeLibrary.TryLoad(name, typeof(SystemLibrary).Assembly, searchPath: null, out nint library))
        {
            return false;
        }

        foreach (string function in functions)
        {
            if (!NativeLibrary.TryGetExport(library, function, out _))
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>A library of the system that a node needs is missing, or does not do what it should.</summary>
public sealed class SystemLibraryException(string message) : IOException(message);
