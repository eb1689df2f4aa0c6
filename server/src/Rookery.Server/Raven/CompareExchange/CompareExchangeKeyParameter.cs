using System.Text;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.CompareExchange;

/// <summary>Checks keys of compare-exchange values in the query string.</summary>
internal static class CompareExchangeKeyParameter
{
    /// <summary>Returns the key in UTF-8.</summary>
    /// <param name="key">The key as the client sent it, unescaped.</param>
    /// <param name="isForStore">Whether a value is stored under the key.</param>
    /// <exception cref="RefusedException">The key is not valid: 400.</exception>
    public static byte[] Check(string key, bool isForStore = false)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        bool isValid = isForStore
            ? CompareExchangeKey.TryValidateForStore(bytes, out var error)
            : CompareExchangeKey.TryValidate(bytes, out error);
        return isValid ? bytes : throw RavenErrors.Refuse(error);
    }
}
