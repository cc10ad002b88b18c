import dev.ferrule.*;
for (ProviderInfo provider : Ferrule.providers()) {
  System.out.printf("jshell: %s is %s%n", provider.scheme(), provider.availability());
}
/exit
