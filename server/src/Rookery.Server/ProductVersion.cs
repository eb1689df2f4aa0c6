namespace Rookery.Server;

/// <summary>The version of this build.</summary>
public static class ProductVersion
{
    /// <summary>The version in Directory.Build.props ("0.1.0").</summary>
    public static string Text { get; } =
        typeof(ProductVersion).Assembly.GetName().Version is { } version ? version.ToString(3) : "0.0.0";
}
